import type { BodyPool } from "./body-pool.ts";

export type ReadBody = { readonly kind: "read"; readonly bytes: Uint8Array<ArrayBuffer> } | RefusedBody;

/** A body that was not read to its end, or not at all. */
export interface RefusedBody {
  readonly kind: "refused";
  readonly status: 400 | 413 | 415 | 503;
  readonly reason: string;
}

export interface BodyLimits {
  readonly maxBytes: number;
  readonly pool: BodyPool;
}

/** Hono's context, as far as a body needs it. */
export interface Carrier {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
}

/**
 * Reads the body of a request, and refuses it at the first sign that it costs too much: its headers, then its bytes so far.
 * How long it may take is for the server that the request comes through.
 */
export async function readBody({ req: { raw }, env }: Carrier, limits: BodyLimits): Promise<ReadBody> {
  const encoding = raw.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") return refused(415, "the body is compressed; send it as it is");
  const length = Number(raw.headers.get("content-length") ?? Number.NaN);
  return readChunks(nodeChunks(env) ?? raw.body, length, limits);
}

/**
 * The same for bodies that come in another way.
 *
 * @param length what the sender says it will be; NaN when it does not say
 */
export async function readChunks(
  chunks: AsyncIterable<Uint8Array> | null,
  length: number,
  { maxBytes, pool }: BodyLimits,
): Promise<ReadBody> {
  const tooLarge = refused(413, `the body is over ${maxBytes} bytes`);
  if (length > maxBytes) return tooLarge;
  // One buffer, since thousands of chunks of a byte would each cost a hundred. It grows with what came, not with what was announced.
  let bytes = new Uint8Array();
  let size = 0;
  let taken = 0;
  try {
    for await (const chunk of chunks ?? []) {
      const end = size + chunk.length;
      if (end > maxBytes) return tooLarge;
      if (end > bytes.length) {
        const larger = Math.min(Math.max(end, bytes.length * 2), end <= length ? length : maxBytes);
        const more = Math.max(larger - pool.ownBytes - taken, 0);
        if (!pool.take(more)) return refused(503, "too many large bodies are being read; try again");
        taken += more;
        const grown = new Uint8Array(larger);
        grown.set(bytes.subarray(0, size));
        bytes = grown;
      }
      bytes.set(chunk, size);
      size = end;
    }
  } catch {
    return refused(400, "the body ends before its end");
  } finally {
    pool.give(taken);
  }
  return { kind: "read", bytes: bytes.subarray(0, size) };
}

/** Under Node the request's own stream, which costs half of the one that `Request` makes of it. */
function nodeChunks(env: unknown): AsyncIterable<Uint8Array> | undefined {
  if (typeof env !== "object" || env === null || !("incoming" in env)) return undefined;
  const { incoming } = env;
  if (typeof incoming !== "object" || incoming === null || !("iterator" in incoming)) return undefined;
  const { iterator } = incoming;
  if (typeof iterator !== "function") return undefined;
  // The connection is to live on, for the answer that the body is too large.
  return iterator.call(incoming, { destroyOnReturn: false });
}

const refused = (status: RefusedBody["status"], reason: string): RefusedBody => ({ kind: "refused", status, reason });
