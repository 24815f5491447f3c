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
  limits: BodyLimits,
): Promise<ReadBody> {
  if (length > limits.maxBytes) return tooLarge(limits);
  const body = collect(length, limits);
  const iterator = chunks?.[Symbol.asyncIterator]();
  try {
    let isOver = false;
    while (iterator !== undefined && !isOver) isOver = await takeNext(iterator, body);
    const refusal = body.refusal();
    if (refusal === undefined) return { kind: "read", bytes: body.bytes() };
    await iterator?.return?.();
    return refusal;
  } catch {
    return refused(400, "the body ends before its end");
  } finally {
    body.close();
  }
}

/** A function of its own: one that waits keeps what it held last, and a body that gave way is to be gone. @returns whether it was the last */
async function takeNext(iterator: AsyncIterator<Uint8Array>, body: Collected): Promise<boolean> {
  const next = await iterator.next();
  if (next.done === true) return true;
  body.add(next.value);
  return body.refusal() !== undefined;
}

interface Collected {
  add(chunk: Uint8Array): void;
  bytes(): Uint8Array<ArrayBuffer>;
  refusal(): RefusedBody | undefined;
  close(): void;
}

function collect(length: number, limits: BodyLimits): Collected {
  // One buffer, since thousands of chunks of a byte would each cost a hundred. It grows with what came, not with what was announced.
  let bytes = new Uint8Array();
  let size = 0;
  let refusal: RefusedBody | undefined;
  const share = limits.pool.open(() => refuse(noRoom));
  const refuse = (reason: RefusedBody) => {
    refusal ??= reason;
    bytes = new Uint8Array();
  };

  /** Makes room for so many bytes. @returns false when there is none */
  function grow(end: number): boolean {
    const larger = Math.min(Math.max(end, bytes.length * 2), end <= length ? length : limits.maxBytes);
    if (!share.take(larger - bytes.length)) return false;
    const grown = new Uint8Array(larger);
    grown.set(bytes.subarray(0, size));
    bytes = grown;
    return true;
  }

  return {
    add(chunk) {
      const end = size + chunk.length;
      if (refusal !== undefined) return;
      if (end > limits.maxBytes) refuse(tooLarge(limits));
      else if (end > bytes.length && !grow(end)) refuse(noRoom);
      else {
        bytes.set(chunk, size);
        size = end;
      }
    },
    bytes: () => bytes.subarray(0, size),
    refusal: () => refusal,
    close: () => share.close(),
  };
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

const tooLarge = ({ maxBytes }: BodyLimits) => refused(413, `the body is over ${maxBytes} bytes`);

export const noRoom = refused(503, "too many bodies are being read; try again");
