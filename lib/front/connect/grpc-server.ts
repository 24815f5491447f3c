import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Front } from "../front.ts";
import { lastAnswersMs, type RunningServer } from "../node-server.ts";
import { discoveryServices } from "./services.ts";

/** Serves gRPC, gRPC-Web and Connect over HTTP/2 without TLS, on a port of its own. */
export function serveGrpc(front: Front, port: number, hostname = "127.0.0.1"): Promise<RunningServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(connectNodeAdapter({ routes: discoveryServices(front) }));
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      const address = server.address() as AddressInfo; // a TCP server's address is never a text
      resolve({
        url: `http://${hostname}:${address.port}`,
        close: () =>
          new Promise((closed) => {
            const deadline = setTimeout(() => {
              for (const session of sessions) session.destroy();
            }, lastAnswersMs);
            server.close(() => {
              clearTimeout(deadline);
              closed();
            });
            // Says goodbye, and ends when the last call has its answer.
            for (const session of sessions) session.close();
          }),
      });
    });
  });
}
