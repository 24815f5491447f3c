import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { BodyPool } from "../../limits/body-pool.ts";

/** Flags and length before each message. */
const headBytes = 5;

/**
 * The same bytes. While a message is there in part, what is there counts among the bodies that are being read.
 *
 * @param giveWay ends the stream: it has kept room longest that others need
 */
export async function* framesWithin(
  body: UniversalServerRequest["body"],
  pool: BodyPool,
  giveWay: () => void,
): AsyncGenerator<Uint8Array> {
  if (!isChunks(body)) return;
  let head: number[] = [];
  /** Bytes of the message that are still to come. */
  let left = 0;
  let share = pool.open(giveWay);
  try {
    for await (const chunk of body) {
      for (let at = 0; at < chunk.length; ) {
        if (left > 0) {
          const step = Math.min(left, chunk.length - at);
          left -= step;
          at += step;
        } else {
          head.push(chunk[at] ?? 0);
          at += 1;
          if (head.length < headBytes) continue;
          left = head.slice(1).reduce((length, byte) => length * 256 + byte, 0);
          head = [];
        }
      }
      if (left === 0 && head.length === 0) {
        share.close();
        share = pool.open(giveWay);
      } else if (!share.take(chunk.length)) return giveWay();
      yield chunk;
    }
  } finally {
    share.close();
  }
}

function isChunks(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
