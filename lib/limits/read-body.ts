import type { BodyPool } from "./body-pool.ts";

export type ReadBody = WholeBody | RefusedBody;

export interface WholeBody {
  readonly kind: "read";
  /** In the pieces that it came in, of which there are few; `bytesOf` puts them together. */
  readonly parts: readonly Uint8Array[];
  /** The connection that it came over; absent where that is not known. */
  readonly from?: object;
}

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

/** Reads the body of one request within limits. */
export type BodyReader = (limits: BodyLimits) => Promise<ReadBody>;

/**
 * Reads the body of a request, and refuses it at the first sign that it costs too much: its headers, then its bytes so far.
 * How long it may take is for the server that the request comes through.
 */
export async function readBody({ req: { raw }, env }: Carrier, limits: BodyLimits): Promise<ReadBody> {
  const refusal = isCompressed(raw.headers.get("content-encoding") ?? undefined);
  if (refusal !== undefined) return refusal;
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
  const body = collect(length, limits);
  const iterator = chunks?.[Symbol.asyncIterator]();
  try {
    let isOver = body.refusal() !== undefined;
    while (iterator !== undefined && !isOver) isOver = await takeNext(iterator, body);
    const refusal = body.refusal();
    if (refusal === undefined) return { kind: "read", parts: body.parts() };
    await iterator?.return?.();
    return refusal;
  } catch {
    return brokenOff;
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

/** A body as it comes. */
export interface Collected {
  add(chunk: Uint8Array): void;
  /** What came so far, in order. */
  parts(): readonly Uint8Array[];
  /** Why no more of it is to be read. */
  refusal(): RefusedBody | undefined;
  /** Gives back the room for it, and lets go of what came. */
  close(): void;
}

const nothing = Buffer.alloc(0);

/** Pieces that are kept as they came. Of more, thousands of a byte perhaps, each would cost a hundred: they are put together. */
const maxPieces = 8;

/** @param length what the sender says it will be; NaN when it does not say */
export function collect(length: number, limits: BodyLimits): Collected {
  let pieces: Uint8Array[] = [];
  /** What comes after them. It grows with what came, not with what was announced. */
  let rest = nothing;
  let restSize = 0;
  let size = 0;
  let refusal: RefusedBody | undefined;
  const share = limits.pool.open(() => refuse(noRoom));
  const refuse = (reason: RefusedBody) => {
    refusal ??= reason;
    pieces = [];
    rest = nothing;
  };
  if (length > limits.maxBytes) refuse(tooLarge(limits));

  /** Makes room for so many bytes behind the pieces. @returns false when there is none */
  function grow(end: number): boolean {
    const most = (size + end - restSize <= length ? length : limits.maxBytes) - (size - restSize);
    const larger = Math.min(Math.max(end, rest.length * 2), most);
    if (!share.take(larger - rest.length)) return false;
    // Not filled with zeros first: what is given out of it was written.
    const grown = Buffer.allocUnsafeSlow(larger);
    grown.set(rest.subarray(0, restSize));
    rest = grown;
    return true;
  }

  /** @returns false when there is no room */
  function keep(chunk: Uint8Array): boolean {
    if (pieces.length < maxPieces) {
      if (!share.take(chunk.length)) return false;
      pieces.push(chunk);
    } else {
      const end = restSize + chunk.length;
      if (end > rest.length && !grow(end)) return false;
      rest.set(chunk, restSize);
      restSize = end;
    }
    size += chunk.length;
    return true;
  }

  return {
    add(chunk) {
      if (refusal !== undefined) return;
      if (size + chunk.length > limits.maxBytes) refuse(tooLarge(limits));
      else if (!keep(chunk)) refuse(noRoom);
    },
    parts: () => (restSize === 0 ? pieces : [...pieces, rest.subarray(0, restSize)]),
    refusal: () => refusal,
    close() {
      share.close();
      pieces = [];
      rest = nothing;
    },
  };
}

/** All of a body in one piece. */
export function bytesOf({ parts }: WholeBody): Uint8Array<ArrayBuffer> {
  const [only, ...more] = parts;
  if (only?.buffer instanceof ArrayBuffer && more.length === 0)
    return new Uint8Array(only.buffer, only.byteOffset, only.length);
  return Buffer.concat(parts);
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

/** @param encoding `content-encoding`; nothing is decompressed here */
export function isCompressed(encoding = "identity"): RefusedBody | undefined {
  return encoding === "identity" ? undefined : refused(415, "the body is compressed; send it as it is");
}

const refused = (status: RefusedBody["status"], reason: string): RefusedBody => ({ kind: "refused", status, reason });

export const tooLarge = ({ maxBytes }: BodyLimits): RefusedBody => refused(413, `the body is over ${maxBytes} bytes`);

export const brokenOff = refused(400, "the body ends before its end");

export const noRoom = refused(503, "too many bodies are being read; try again");
