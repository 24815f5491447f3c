import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type BodyLimits, isCompressed, type ReadBody, readChunks } from "../../limits/read-body.ts";
import { takeIncoming } from "../../limits/read-incoming.ts";
import { problem } from "./answer.ts";
import type { FrontRequest } from "./front-request.ts";
import { nodeCredentials } from "./node-credentials.ts";
import type { Requests } from "./requests.ts";
import { endResponse, isOver, sendAnswer } from "./send-answer.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

/**
 * Answers the requests of Node's servers, over HTTP/1 and 2, straight into their responses: a request and a response of the web's kind around
 * each would cost more than the answer to most polls.
 */
export function nodeAnswers({ answer, onError }: Requests): (request: NodeRequest, response: NodeResponse) => void {
  return (request, response) => {
    const target = targetOf(request);
    if (target === undefined) {
      sendAnswer(response, problem(400, "the request's path or host cannot be read", { connection: "close" }));
      return;
    }
    let isRead = false;
    const broken = (cause: unknown) => {
      onError(cause);
      endResponse(response);
    };
    const asked: FrontRequest = {
      method: request.method ?? "",
      target,
      ...nodeCredentials(request),
      body(limits, take) {
        takeBody(request, limits, (body) => {
          isRead = body.kind === "read";
          take(body);
        });
      },
      chunks: () => chunksOf(request),
      headers: () => headersOf(request),
      signal: goneSignal(response),
    };
    answer(asked, (given) => {
      sendAnswer(response, given)?.catch(broken);
      if (!isRead && hasBody(request)) boundRest(request);
    });
  };
}

/** Path and query, as a URL of the web has them. @returns undefined where they, or the host, do not have the form of any */
function targetOf({ url = "", headers }: NodeRequest): string | undefined {
  const host = headers.host ?? headers[":authority"];
  if (typeof host === "string" && !hostForm.test(host)) return undefined;
  if (usualTarget.test(url) && !url.includes("/.")) return url;
  if (/^[^?]*\\/.test(url)) return undefined;
  const whole = url.startsWith("/") ? `http://front${url}` : url;
  const read = /^https?:\/\//i.test(whole) ? URL.parse(whole) : null;
  return read === null ? undefined : read.pathname + read.search;
}

/** What is the same in a URL. */
const usualTarget = /^\/[\w/:?=&.-]*$/;

/** RFC 3986, 3.2.2, without what is percent-encoded. */
const hostForm = /^(?:[\w.~!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

function takeBody(request: NodeRequest, limits: BodyLimits, take: (body: ReadBody) => void): void {
  if (!("stream" in request)) {
    takeIncoming(request, limits, take);
    return;
  }
  const { "content-encoding": encoding, "content-length": length } = request.headers;
  const refused = isCompressed(encoding);
  if (refused === undefined) void readChunks(chunksOf(request), Number(length ?? Number.NaN), limits).then(take);
  else take(refused);
}

/** The connection is to live on, for the answer that the body is too large. */
const chunksOf = (request: NodeRequest): AsyncIterable<Uint8Array> => request.iterator({ destroyOnReturn: false });

function headersOf({ rawHeaders }: NodeRequest): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!name.startsWith(":")) headers.append(name, rawHeaders[at + 1] ?? "");
  }
  return headers;
}

/** Fires when the connection ends before the answer: one for all that waits within the request. */
function goneSignal(response: NodeResponse): () => AbortSignal {
  let signal: AbortSignal | undefined;
  const listen = () => {
    const controller = new AbortController();
    if (isOver(response)) controller.abort();
    else {
      response.once("close", () => {
        // An answer that was taken ends too, and an abort makes an error with its trace, for each of thousands that are answered at once.
        const isTaken = "stream" in response ? response.writableEnded : response.writableFinished;
        if (!isTaken) controller.abort();
      });
    }
    return controller.signal;
  };
  return () => {
    signal ??= listen();
    return signal;
  };
}

const hasBody = ({ headers, httpVersionMajor }: NodeRequest): boolean =>
  httpVersionMajor === 1 && (headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0");

/** How long a body may go on that is not read: Node reads it, to find the next request behind it. */
const restMs = 500;

/** Ends a connection whose request goes on though it has its answer. */
function boundRest(request: NodeRequest): void {
  if (request.complete) return;
  const ending = setTimeout(() => {
    if (!request.complete) request.socket.destroySoon();
  }, restMs);
  request.once("close", () => clearTimeout(ending));
}
