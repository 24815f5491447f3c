import { once } from "node:events";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Caller } from "../auth/caller.ts";
import { refusalOf } from "../auth/guard.ts";
import { toConnectError } from "../connect/calls.ts";
import type { Front } from "../front.ts";
import { messagesOf } from "./read-messages.ts";

/** What is written of one message: a beginning of its own, and what it shares with the messages of other streams. */
export type Written = readonly Uint8Array[];

/** One call of a stream, once it is known who makes it. */
export interface GrpcStream {
  readonly caller: Caller;
  readonly messages: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/**
 * Answers a stream by gRPC's own framing. The library's would copy a message several times for every stream, and keep the copies for as
 * long as the stream waits: of thousands that are told the same, each holds a reference here.
 */
export function answerStream(
  front: Front,
  maxBytes: number,
  answers: (call: GrpcStream) => AsyncIterable<Written>,
): (request: Http2ServerRequest, response: Http2ServerResponse) => void {
  return (request, response) => {
    const { stream } = response;
    const gone = new AbortController();
    stream.once("close", () => gone.abort());
    const answer = async () => {
      response.writeHead(200, { "content-type": "application/grpc" });
      try {
        const caller = await callerOf(front, request);
        const messages = messagesOf(request, {
          maxBytes,
          encoding: String(request.headers["grpc-encoding"] ?? ""),
          pool: front.bodies,
          giveWay: () => stream.close(constants.NGHTTP2_CANCEL),
        });
        await writeAll(answers({ caller, messages, signal: gone.signal }), response, gone.signal);
        end(response, undefined);
      } catch (cause) {
        if (stream.destroyed) return;
        end(response, toConnectError(front, cause));
      }
    };
    answer().catch((cause: unknown) => {
      if (!stream.destroyed) front.onError(cause);
    });
  };
}

/** Before anything of a stream is read, it is known who opens it. @throws ConnectError for whoever may not */
async function callerOf(front: Front, { headers }: Http2ServerRequest): Promise<Caller> {
  const header = (name: string) => {
    const value = headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  };
  const found = await front.authentication.identify({ header });
  const refusal = refusalOf(found, "node");
  if (found.kind === "identified" && refusal === undefined) return found.caller;
  const code = { 401: Code.Unauthenticated, 503: Code.Unavailable }[refusal?.status ?? 401] ?? Code.PermissionDenied;
  throw new ConnectError((await refusal?.text()) ?? "", code);
}

async function writeAll(messages: AsyncIterable<Written>, response: Http2ServerResponse, signal: AbortSignal) {
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

/** @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses */
function end(response: Http2ServerResponse, error: ConnectError | undefined): void {
  response.addTrailers({
    "grpc-status": String(error?.code ?? 0),
    ...(error === undefined ? {} : { "grpc-message": encodeURIComponent(error.rawMessage) }),
  });
  response.end();
}
