import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Hono } from "hono/tiny";

export interface RunningServer {
  /** `http://host:port`, with the port that was given or found. */
  readonly url: string;
  /**
   * Takes no new connection, lets what was asked go with an answer, and resolves when the port is free. Whoever is not done
   * after some seconds is cut off. Whatever holds requests has to be closed first.
   */
  close(): Promise<void>;
}

/** How long answers that are under way may take after `close`. */
export const lastAnswersMs = 5_000;

/**
 * Serves an app over HTTP/1.1.
 *
 * @param port 0 takes any free one
 * @throws the system's error when the port is taken
 */
export function serveHttp(app: Hono, port: number, hostname = "127.0.0.1"): Promise<RunningServer> {
  return new Promise((resolve, reject) => {
    const answering = new Set<ServerResponse>();
    let isClosing = false;
    const server = serve({ fetch: app.fetch, port, hostname }, (address: AddressInfo) => {
      resolve({
        url: `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${address.port}`,
        close: () =>
          new Promise((closed) => {
            isClosing = true;
            for (const response of answering) endConnection(response);
            const deadline = setTimeout(() => {
              if ("closeAllConnections" in server) server.closeAllConnections();
            }, lastAnswersMs);
            server.close(() => {
              clearTimeout(deadline);
              closed();
            });
          }),
      });
    });
    // Before the app's own, so that it sees every request first.
    server.prependListener("request", (_request: IncomingMessage, response: ServerResponse) => {
      if (isClosing) return endConnection(response);
      answering.add(response);
      response.once("close", () => answering.delete(response));
    });
    server.once("error", reject);
  });
}

/** The answer is the last one on its connection, and says so. */
function endConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("connection", "close");
}
