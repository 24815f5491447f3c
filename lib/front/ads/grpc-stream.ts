import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { endCall, type Written, writeMessages } from "../../streams/grpc-framing.ts";
import { messagesOf } from "../../streams/read-messages.ts";
import { admit } from "../auth/admit.ts";
import type { Caller } from "../auth/caller.ts";
import { toConnectError } from "../connect/calls.ts";
import { connectErrorOf } from "../connect/connect-error.ts";
import { gzip } from "../connect/gzip.ts";
import type { Front } from "../front.ts";
import { nodeCredentials } from "../requests/node-credentials.ts";

/** One call of a stream, once it is known who makes it. */
export interface GrpcStream {
  readonly caller: Caller;
  readonly messages: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** What lets streams in, and bounds what they bring. */
export type StreamServices = Pick<Front, "authentication" | "bodies" | "onError">;

/**
 * Answers a stream by gRPC's own framing. The library's would copy a message several times for every stream, and keep the copies for as
 * long as the stream waits: of thousands that are told the same, each holds a reference here.
 */
export function answerStream(
  front: StreamServices,
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
          unpack: unpacker(String(request.headers["grpc-encoding"] ?? "")),
          pool: front.bodies,
          giveWay: () => stream.close(constants.NGHTTP2_CANCEL),
        });
        await writeMessages(answers({ caller, messages, signal: gone.signal }), response, gone.signal);
        endCall(response, undefined);
      } catch (cause) {
        if (stream.destroyed) return;
        endCall(response, toConnectError(front, cause));
      }
    };
    answer().catch((cause: unknown) => {
      if (!stream.destroyed) front.onError(cause);
    });
  };
}

/** Before anything of a stream is read, it is known who opens it. @throws ConnectError for whoever may not */
async function callerOf(front: Pick<Front, "authentication">, request: Http2ServerRequest): Promise<Caller> {
  const found = await admit(front.authentication, nodeCredentials(request), "node");
  if (found.kind === "identified") return found.caller;
  throw connectErrorOf(found);
}

/** Messages are packed with gzip or not at all. @param encoding `grpc-encoding` of the request; "" for none */
const unpacker =
  (encoding: string) =>
  async (message: Uint8Array, maxBytes: number): Promise<Uint8Array> => {
    if (encoding !== gzip.name)
      throw new ConnectError("messages are packed with gzip or not at all", Code.Unimplemented);
    return gzip.decompress(message, maxBytes);
  };
