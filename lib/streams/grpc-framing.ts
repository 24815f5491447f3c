import { once } from "node:events";
import type { Http2ServerResponse } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";

/** What is written of one message: a beginning of its own, and what it shares with the messages of other streams. */
export type Written = readonly Uint8Array[];

/** Writes messages as they come, each as soon as its reader has taken the one before. */
export async function writeMessages(
  messages: AsyncIterable<Written>,
  response: Http2ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  for await (const pieces of messages) {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const head = new Uint8Array(5);
    new DataView(head.buffer).setUint32(1, length);
    const { stream } = response;
    stream.cork();
    let hasRoom = true;
    for (const piece of [head, ...pieces]) hasRoom = response.write(piece) && hasRoom;
    stream.uncork();
    if (!hasRoom && stream.writableNeedDrain) await once(stream, "drain", { signal });
  }
}

/**
 * Ends a call, without an error or with one.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses
 */
export function endCall(response: Http2ServerResponse, error: ConnectError | undefined): void {
  response.addTrailers({
    "grpc-status": String(error?.code ?? 0),
    ...(error === undefined ? {} : { "grpc-message": encodeURIComponent(error.rawMessage) }),
  });
  response.end();
}
