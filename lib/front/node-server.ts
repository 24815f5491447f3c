import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Hono } from "hono/tiny";
import { limits as defaultLimits, type Limits } from "../limits/limits.ts";

export interface RunningServer {
  /** `http://host:port`, with the port that was given or found. */
  readonly url: string;
  /** Ends connections, held ones too, and resolves when the port is free. */
  close(): Promise<void>;
}

/** How often connections are looked at that take too long. */
const lookMs = 1_000;

/**
 * Serves an app over HTTP/1.1. Connections that bring a request or take an answer too slowly are ended.
 *
 * @param port 0 takes any free one
 * @throws the system's error when the port is taken
 */
export function serveHttp(
  app: Hono,
  port: number,
  hostname = "127.0.0.1",
  { headerBytes, headersMs, requestMs, idleMs, stallMs, connections }: Limits = defaultLimits,
): Promise<RunningServer> {
  return new Promise((resolve, reject) => {
    const serverOptions = {
      maxHeaderSize: headerBytes,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: lookMs,
    };
    const options = { fetch: app.fetch, port, hostname, createServer, serverOptions };
    const server = serve(options, (address: AddressInfo) => {
      resolve({
        url: `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${address.port}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            if ("closeAllConnections" in server) server.closeAllConnections();
          }),
      });
    });
    server.maxConnections = connections;
    server.setTimeout(stallMs);
    server.once("error", reject);
  });
}
