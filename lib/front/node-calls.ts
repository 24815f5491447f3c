import type { IncomingMessage, ServerResponse } from "node:http";
import { unreachable } from "../config/diagnostic.ts";
import type { BodyReader } from "../limits/read-body.ts";
import { readIncoming, takeIncoming } from "../limits/read-incoming.ts";
import type { Identified } from "./auth/authentication.ts";
import { refusalOf } from "./auth/guard.ts";
import type { Front } from "./front.ts";
import type { ChunkedBody } from "./polls/discovery-body.ts";
import {
  answerCall,
  type CallAnswer,
  type DiscoveryCall,
  deltaFetchPath,
  failure,
  isJson,
  patienceMs,
  readCall,
  refusal,
} from "./polls/discovery-call.ts";
import { answerRead, pollLimits } from "./polls/poll.ts";
import { changedHeaders } from "./polls/responses.ts";

/**
 * Answers the calls under `/v3/`, and `DeltaFetch` in JSON, straight from Node's requests and into its responses: a request and a response of the web's kind
 * around each would cost more than the answer. What is answered is `answerCall`'s to say, as it is for every other server.
 *
 * @returns whether the request is such a call; any other is left to the app
 */
export function nodeCalls(front: Front): (request: IncomingMessage, response: ServerResponse) => boolean {
  const paths = createPaths();
  return (request, response) => {
    const call = request.method === "POST" ? paths.callOf(request.url ?? "") : undefined;
    if (call === undefined) return false;
    // In binary it is for those who have Connect's library.
    if (call.kind === "delta-fetch" && !isJson(request.headers["content-type"] ?? "")) return false;
    answer(front, call, request, response);
    return true;
  };
}

/** What URLs ask for; the few that everybody uses are read once. */
function createPaths() {
  const known = new Map<string, DiscoveryCall | undefined>();
  return {
    callOf(url: string): DiscoveryCall | undefined {
      const before = known.get(url);
      if (before !== undefined) return before;
      const call = callAt(url);
      if (call !== undefined && known.size < maxKnownPaths) known.set(url, call);
      return call;
    },
  };
}

const maxKnownPaths = 100;

/** @returns undefined for what the app is to read, and perhaps refuse */
function callAt(text: string): DiscoveryCall | undefined {
  const url = URL.parse(text, "http://front");
  if (url?.pathname === deltaFetchPath) return { kind: "delta-fetch" };
  const name = url === null ? undefined : /^\/v3\/([^/]+)$/.exec(url.pathname)?.[1];
  if (url === null || name === undefined) return undefined;
  try {
    return readCall(decodeURIComponent(name), url.searchParams.get("shape"));
  } catch {
    return undefined;
  }
}

function answer(front: Front, call: DiscoveryCall, request: IncomingMessage, response: ServerResponse): void {
  const header = (name: string) => {
    const value = request.headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  };
  // One for all that waits within the request, one after the other.
  let gone: AbortSignal | undefined;
  const signal = () => {
    gone ??= goneSignal(response);
    return gone;
  };
  const fail = (cause: unknown) => {
    sendResponse(response, failure(front, cause)).catch(() => response.destroy());
  };
  const sending = (answered: CallAnswer) => send(response, answered);
  const identified = (found: Identified) => {
    const refused = refusalOf(found, "node");
    if (refused !== undefined || found.kind === "refused") return sendResponse(response, refused);
    const sender = { caller: found.caller, patienceMs: patienceMs(call, header), signal };
    if (call.kind === "poll")
      return takeIncoming(request, pollLimits(front), (body) =>
        goOn(() => answerRead(front, sender, body, call.type), sending, fail),
      );
    const body: BodyReader = (limits) => readIncoming(request, limits);
    return goOn(() => answerCall(front, call, { ...sender, body }), sending, fail);
  };
  goOn(() => front.authentication.identify({ header }), identified, fail);
}

/** Goes on with something at once if it is there, else when it is: to wait a moment for nothing costs a tenth of the answer to a small poll. */
function goOn<T>(ask: () => T | Promise<T>, go: (what: T) => unknown, fail: (cause: unknown) => void): void {
  try {
    const what = ask();
    const going = what instanceof Promise ? what.then(go) : go(what);
    if (going instanceof Promise) going.catch(fail);
  } catch (cause) {
    fail(cause);
  }
}

/** @returns what to wait for; undefined once all is on its way */
function send(response: ServerResponse, answered: CallAnswer): Promise<void> | undefined {
  switch (answered.kind) {
    case "unchanged":
      response.writeHead(304).end();
      return undefined;
    case "changed":
      return sendBody(response, answered.body);
    case "refused":
      return sendResponse(response, refusal(answered));
    case "other":
      return sendResponse(response, answered.response);
    default:
      return unreachable(answered);
  }
}

/** Fires when the connection ends before the answer. */
function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else {
    response.once("close", () => {
      // An answer that was taken ends too, and an abort makes an error with its trace, for each of thousands that are answered at once.
      if (!response.writableFinished) controller.abort();
    });
  }
  return controller.signal;
}

function sendBody(response: ServerResponse, body: ChunkedBody): Promise<void> | undefined {
  if (response.closed) {
    body.sent?.();
    return undefined;
  }
  if (body.sent !== undefined) response.on("close", body.sent);
  response.writeHead(200, changedHeaders(body.bytes));
  if (body.whole === undefined) return sendChunks(response, body);
  response.end(body.whole);
  return undefined;
}

async function sendChunks(response: ServerResponse, body: ChunkedBody): Promise<void> {
  for await (const piece of body.chunks()) {
    if (response.closed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Until there is room for more, or nobody to take it. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

/** What is rare comes as a response of the web's kind. */
async function sendResponse(response: ServerResponse, answer: Response | undefined): Promise<void> {
  if (answer === undefined || response.headersSent) return void response.destroy();
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "content-length": body.length });
  response.end(body);
}
