import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Hono } from "hono/tiny";

export interface RunningServer {
  /** `http://host:port`, with the port that was given or found. */
  readonly url: string;
  /** Ends connections, held ones too, and resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Serves an app over HTTP/1.1.
 *
 * @param port 0 takes any free one
 * @throws the system's error when the port is taken
 */
export function serveHttp(app: Hono, port: number, hostname = "127.0.0.1"): Promise<RunningServer> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, port, hostname }, (address: AddressInfo) => {
      resolve({
        url: `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${address.port}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            if ("closeAllConnections" in server) server.closeAllConnections();
          }),
      });
    });
    server.once("error", reject);
  });
}
