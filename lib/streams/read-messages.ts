import { Code, ConnectError } from "@connectrpc/connect";
import type { BodyPool } from "../limits/body-pool.ts";

/** Flags and length before each message. */
const headBytes = 5;
const compressed = 1;

/** How messages of a stream are read. */
export interface ReadMessages {
  /** Most that a message may have, as sent and as unpacked. */
  readonly maxBytes: number;
  /** Unpacks a message to at most so many bytes. @throws ConnectError for one that is packed in a way that is not known */
  unpack(message: Uint8Array, maxBytes: number): Promise<Uint8Array>;
  readonly pool: BodyPool;
  /** Ends the stream: it has kept room longest that others need. */
  giveWay(): void;
}

/**
 * The messages of a gRPC request. While one is there in part, what is there counts among the bodies that are being read.
 *
 * @throws ConnectError for a message that is too large, or that is packed in a way that is not known
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export async function* messagesOf(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, unpack, pool, giveWay }: ReadMessages,
): AsyncGenerator<Uint8Array> {
  const head = new Uint8Array(headBytes);
  let read = 0;
  /** Of the message that is coming: it grows with what came, not with what was announced. */
  let message: Uint8Array | undefined;
  let length = 0;
  let share = pool.open(giveWay);
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length || (message !== undefined && read === headBytes + length); ) {
        if (message === undefined) {
          const part = chunk.subarray(at, at + headBytes - read);
          head.set(part, read);
          [read, at] = [read + part.length, at + part.length];
          if (read < headBytes) break;
          length = new DataView(head.buffer).getUint32(1);
          if (length > maxBytes)
            throw new ConnectError(`a message is larger than ${maxBytes} bytes`, Code.ResourceExhausted);
          message = new Uint8Array(0);
          continue;
        }
        const done = read - headBytes;
        const part = chunk.subarray(at, at + length - done);
        const end = done + part.length;
        if (end > message.length) {
          const larger = Math.min(Math.max(end, 2 * message.length), length);
          if (!share.take(larger - message.length)) return giveWay();
          const grown = new Uint8Array(larger);
          grown.set(message.subarray(0, done));
          message = grown;
        }
        message.set(part, done);
        [read, at] = [read + part.length, at + part.length];
        if (read < headBytes + length) break;
        yield (head[0] ?? 0) === compressed ? await unpack(message, maxBytes) : message;
        [read, message] = [0, undefined];
        share.close();
        share = pool.open(giveWay);
      }
    }
    if (read > 0) throw new ConnectError("the request ends within a message", Code.InvalidArgument);
  } finally {
    share.close();
  }
}
