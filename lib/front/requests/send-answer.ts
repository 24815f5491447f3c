import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import type { Answer, Pieces } from "./answer.ts";

type NodeResponse = ServerResponse | Http2ServerResponse;

/** Sends an answer by a response of Node's. @returns what to wait for; undefined once all is on its way */
export function sendAnswer(response: NodeResponse, { status, headers, body }: Answer): Promise<void> | undefined {
  if (isOver(response) || response.headersSent) {
    if (typeof body === "object") body.sent?.();
    endResponse(response);
    return undefined;
  }
  if (typeof body === "object") return sendPieces(response, status, headers, body);
  if (body === undefined) {
    respond(response, status, headers);
    response.end();
  } else {
    respond(response, status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
    response.end(body);
  }
  return undefined;
}

/** The answer is over, whether all of it was sent or not. */
export const isOver = (response: NodeResponse): boolean =>
  "stream" in response ? response.stream.closed || response.stream.destroyed : response.closed;

/** Ends an answer short, so that nobody takes the part for all. */
export function endResponse(response: NodeResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

function respond(response: NodeResponse, status: number, headers: Answer["headers"]): void {
  if (!("stream" in response)) {
    response.writeHead(status, headers);
    return;
  }
  // HTTP/2 has no such header.
  const { connection: _connection, ...others } = headers;
  response.writeHead(status, others);
}

function sendPieces(
  response: NodeResponse,
  status: number,
  headers: Answer["headers"],
  body: Pieces,
): Promise<void> | undefined {
  if (body.sent !== undefined) response.on("close", body.sent);
  respond(response, status, headers);
  if (body.whole === undefined) return sendChunks(response, body);
  response.end(body.whole);
  return undefined;
}

async function sendChunks(response: NodeResponse, body: Pieces): Promise<void> {
  for await (const piece of body.chunks()) {
    if (isOver(response)) return;
    const hasRoom = "stream" in response ? response.write(piece) : response.write(piece);
    if (!hasRoom) await drained(response);
  }
  response.end();
}

/** Until there is room for more, or nobody to take it. */
function drained(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}
