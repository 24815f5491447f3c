import { connect, type Socket } from "node:net";

/** What a server did with so many equal requests. */
export interface Load {
  readonly requestsPerSecond: number;
  /** Bytes of each answer, its head among them. */
  readonly bytes: number;
}

export interface Loading {
  readonly connections: number;
  readonly count: number;
  /** Status that every answer has to have. */
  readonly expected: number;
}

/** A POST as an Envoy of this version sends it. */
export function postOf(path: string, body: string, patienceMs = 2_000): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: portolan\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-envoy-internal: true\r\nx-forwarded-for: 192.0.2.2\r\nx-envoy-expected-rq-timeout-ms: ${patienceMs}\r\n\r\n`;
  return Buffer.from(head + body);
}

/**
 * Sends the same bytes again and again over connections that are kept, each request after the answer to the one before. Written on
 * sockets, since an HTTP client costs more than the servers that are measured.
 *
 * @throws Error for an answer with another status
 */
export async function rawLoad(url: string, request: Buffer, { connections, count, expected }: Loading): Promise<Load> {
  let left = count;
  let bytes = 0;
  const startMs = performance.now();
  const one = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      const fail = (cause: unknown) => {
        socket.destroy();
        reject(cause);
      };
      const next = () => {
        if (left === 0) {
          socket.destroy();
          resolve();
          return;
        }
        left -= 1;
        socket.write(request);
      };
      let missing = 0;
      socket.on("data", (chunk: Buffer) => {
        if (missing === 0) {
          const answer = sizeOf(chunk);
          if (answer?.status !== expected) return fail(new Error(`${url}: ${chunk.toString("latin1").slice(0, 500)}`));
          missing = answer.bytes;
          bytes = missing;
        }
        missing -= chunk.length;
        if (missing === 0) next();
      });
      socket.on("error", fail);
      socket.on("close", () => fail(new Error(`${url} has hung up`)));
      next();
    });
  const { hostname, port } = new URL(url);
  await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true);
      return one(socket);
    }),
  );
  return { requestsPerSecond: (count * 1_000) / (performance.now() - startMs), bytes };
}

/** Status and size of an answer whose head is in its first piece; undefined for one that does not tell. */
function sizeOf(chunk: Buffer): { readonly status: number; readonly bytes: number } | undefined {
  const headEnd = chunk.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const head = chunk.toString("latin1", 0, headEnd).toLowerCase();
  const status = Number(head.slice(9, 12));
  const length = /content-length: (\d+)/.exec(head)?.[1];
  if (length === undefined && status !== 304) return undefined;
  return { status, bytes: headEnd + 4 + Number(length ?? 0) };
}
