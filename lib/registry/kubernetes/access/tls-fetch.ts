import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent, request } from "node:https";
import type { Readable } from "node:stream";
import type { ApiClient } from "../api/client.ts";

/** What a connection is made with. */
export interface TlsOptions {
  /** PEM; absent: the authorities that Node knows. */
  readonly authority?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly isInsecure?: boolean;
}

/** Watches stay open for minutes, one connection for each kind. */
const maxSockets = 100;
/** How soon a connection that says nothing is asked whether it is there. */
const probeMs = 15_000;

/**
 * `fetch` as far as a client of an API server needs it, with certificates of one's own, which Node's does not take without a
 * library: answers are streamed, redirects are not followed.
 */
export function tlsFetch(tls: () => Promise<TlsOptions>): ApiClient["fetch"] {
  let known: { readonly from: TlsOptions; readonly agent: Agent } | undefined;
  const plain = new PlainAgent({ keepAlive: true, keepAliveMsecs: probeMs, maxSockets });
  const agentFor = (from: TlsOptions): Agent => {
    if (known !== undefined && JSON.stringify(known.from) === JSON.stringify(from)) return known.agent;
    const { authority, certificate, key, serverName, isInsecure = false } = from;
    const agent = new Agent({
      keepAlive: true,
      keepAliveMsecs: probeMs,
      maxSockets,
      rejectUnauthorized: !isInsecure,
      ...(authority === undefined ? {} : { ca: authority }),
      ...(certificate === undefined ? {} : { cert: certificate, key }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    });
    known = { from, agent };
    return agent;
  };
  return async (url, { method = "GET", headers, body, signal }) => {
    signal?.throwIfAborted();
    const isPlain = url.startsWith("http:");
    const options = {
      method,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        // Of a DELETE Node would send the body without its length: the server takes it for the next request.
        ...(typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {}),
      },
      ...(signal === undefined || signal === null ? {} : { signal }),
    };
    const agent = isPlain ? plain : agentFor(await tls());
    return new Promise((resolve, reject) => {
      const sent = isPlain ? plainRequest(url, { ...options, agent }) : request(url, { ...options, agent });
      sent.once("error", reject);
      sent.once("socket", (socket) => socket.setNoDelay(true).setKeepAlive(true, probeMs));
      sent.once("response", (response) => {
        // What is thrown here would reach nobody, and end the process.
        try {
          resolve(answerOf(response));
        } catch (cause) {
          response.destroy();
          reject(
            new Error(`${new URL(url).host} answered with status ${response.statusCode}, which cannot be read`, {
              cause,
            }),
          );
        }
      });
      sent.end(typeof body === "string" ? body : undefined);
    });
  };
}

/** Statuses of answers that have no body. @see https://fetch.spec.whatwg.org/#null-body-status */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Node's answer as the web's. @throws RangeError for a status that is none, TypeError for a header that is none */
function answerOf(response: IncomingMessage): Response {
  const { statusCode: status = 500 } = response;
  // `Response` checks that, but not the one that @hono/node-server puts in its place in a process that also serves.
  if (status < 200 || status > 599) throw new RangeError(`${status} is no status of an answer`);
  const headers = new Headers();
  for (const [name, value = ""] of Object.entries(response.headers)) headers.set(name, String(value));
  if (!bodiless.has(status)) return new Response(streamOf(response), { status, headers });
  response.resume();
  return new Response(null, { status, headers });
}

/** Node's stream as the web's; what breaks it is the reader's to see. */
function streamOf(response: Readable): ReadableStream<Uint8Array> {
  const chunks = response[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      response.destroy();
    },
  });
}
