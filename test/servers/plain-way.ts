import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ApiServer } from "./api-server.ts";

/** A way to an API server over plain HTTP, as a tunnel that ends TLS is one for a Worker, which trusts no authority of one's own. */
export interface PlainWay {
  readonly url: string;
  /** Paths with queries that were asked for, in order. */
  readonly asked: readonly string[];
  /** Connections that were open at once, at most. */
  readonly most: () => number;
  close(): Promise<void>;
}

export async function openPlainWay(server: ApiServer): Promise<PlainWay> {
  const asked: string[] = [];
  let open = 0;
  let most = 0;
  const forward = async (path: string, authorization: string, accept: string, response: ServerResponse) => {
    const stop = new AbortController();
    response.on("close", () => stop.abort());
    const headers = { authorization, accept };
    const answer = await server.client.fetch(server.url + path, { headers, signal: stop.signal });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.flushHeaders();
    if (answer.body === null) response.end();
    else
      Readable.fromWeb(answer.body)
        .on("error", () => response.destroy())
        .pipe(response);
  };
  const listener = createServer(({ url = "", headers }, response) => {
    asked.push(url);
    open += 1;
    most = Math.max(most, open);
    response.on("close", () => {
      open -= 1;
    });
    forward(url, headers.authorization ?? "", headers.accept ?? "", response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo; // a TCP server's address is never a text
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    most: () => most,
    close: () =>
      new Promise((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  };
}
