import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Upstream {
  readonly port: number;
  close(): Promise<void>;
}

/** A server that answers every request with its name. */
export async function startUpstream(name: string, port = 0, host = "127.0.0.1"): Promise<Upstream> {
  const server = createServer((_request, response) => response.end(name));
  // A connection that ends while Envoy sends a request on it is a failed request, which is no fault of what is tested.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo; // a TCP server's address is never a text
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
