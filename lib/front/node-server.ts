import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { createServer as createSecureServer, type Server as SecureServer, type ServerOptions } from "node:https";
import { Server as NetServer } from "node:net";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { TlsOptions } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import { causeText, codeOf } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { limits as defaultLimits, type Limits } from "../limits/limits.ts";
import { boundHandshakes } from "./handshakes.ts";
import type { Answer } from "./requests/answer.ts";
import { nodeAnswers } from "./requests/node-adapter.ts";
import type { Requests } from "./requests/requests.ts";
import { sendAnswer } from "./requests/send-answer.ts";

export interface RunningServer {
  /** `http://host:port`, with the port that was given or found. */
  readonly url: string;
  /**
   * Takes no new connection. Whoever has one is answered on it as ever, so that nobody has a reason to come anew.
   *
   * @param lingerMs whoever comes is still taken in until nobody has come for so long: some have connected whom nobody has taken in yet. 0 by default
   */
  stopListening(lingerMs?: number): Promise<void>;
  /**
   * Takes no new connection, lets what was asked go with an answer, and resolves when all have theirs. Whoever is not done
   * after some seconds is cut off. Whatever holds requests has to be closed first.
   */
  close(): Promise<void>;
}

/**
 * Ends servers so that no request is let fall: the system resets connections that wait when a port is closed, and whoever is answered
 * for the last time comes again at once. So the ports are closed first.
 *
 * @param endHolding lets all go that are held
 */
export async function closeServers(
  servers: readonly RunningServer[],
  endHolding: () => void,
  lingerMs = 0,
): Promise<void> {
  await Promise.all(servers.map((server) => server.stopListening(lingerMs)));
  endHolding();
  await Promise.all(servers.map((server) => server.close()));
}

/**
 * A server that is about to listen.
 *
 * @param where `127.0.0.1:8080`
 * @param remedy what to do when it cannot
 * @throws PortolanError with both
 */
export async function listening(start: Promise<RunningServer>, where: string, remedy: string): Promise<RunningServer> {
  try {
    return await start;
  } catch (cause) {
    // A server among several is told no more than the code.
    const isTaken = codeOf(cause) === "EADDRINUSE";
    const reason = isTaken ? "address already in use" : causeText(cause);
    throw new PortolanError(`cannot listen on ${where} (${reason}); ${remedy}`, [], cause);
  }
}

/** How often connections are looked at that take too long. */
const lookMs = 1_000;

/** How long a connection has to be quiet after `close` before nothing more is expected on it. */
const quietMs = 300;

/** Between processes that share a port, and in the system's own queue, connections are taken in one after the other, and no farther apart. */
export const lastComersMs = 100;

/** However many go on coming. */
const mostLingerMs = 2_000;

/** How long answers that are under way may take after `close`. */
export const lastAnswersMs = 5_000;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Refuses requests before anything else is done for them. @returns undefined for one that goes on */
export type RequestGuard = (request: IncomingMessage) => Answer | undefined;

/** What a server serves: requests of the web's kind, or the front's own form of them, which costs less. */
export type ServedApp =
  | Requests
  | { readonly fetch: (request: Request) => Response | Promise<Response>; readonly answer?: never };

/** How a server proves itself, and whom it takes requests from. */
export interface Secure {
  readonly options: TlsOptions;
  /** Is handed the server, for certificates that come later (`setSecureContext`). */
  readonly onServer: (server: SecureServer) => void;
}

/** Called for each error of a server that listens; it lost a connection and goes on. */
export type OnServerError = (cause: unknown) => void;

/** Where nobody counts errors Node prints them to standard error. */
const printError: OnServerError = (cause) => process.emitWarning(`a server has lost a connection: ${causeText(cause)}`);

/**
 * Serves an app over HTTP/1.1, with `secure` over TLS. Connections that bring a request or take an answer too slowly are ended.
 *
 * @param port 0 takes any free one
 * @throws the system's error when the port is taken
 */
export function serveHttp(
  app: ServedApp,
  port: number,
  hostname = "127.0.0.1",
  { headerBytes, headersMs, requestMs, idleMs, stallMs, connections, handshakes }: Limits = defaultLimits,
  guard?: RequestGuard,
  onError: OnServerError = printError,
  secure?: Secure,
): Promise<RunningServer> {
  return new Promise((resolve, reject) => {
    let isClosing = false;
    const respond = app.answer === undefined ? getRequestListener(app.fetch, { hostname }) : nodeAnswers(app);
    const options = {
      maxHeaderSize: headerBytes,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: lookMs,
      ServerResponse: lastWhere(() => isClosing),
    };
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      const refused = guard?.(request);
      if (refused === undefined) respond(request, response);
      else sendAnswer(response, refused);
    };
    const server =
      secure === undefined
        ? createServer(options, answer)
        : securely(secure, { ...options, handshakeTimeout: idleMs, ...secure.options }, answer, handshakes);
    server.once("listening", () => {
      // As when a connection cannot be accepted, because descriptors are used up.
      server.off("error", reject).on("error", onError);
      const address = server.address();
      const found = typeof address === "object" && address !== null ? address.port : port;
      const stopListening = portCloser(server);
      // `once` of node:events would reject, unheard, for the first error that the server goes on after.
      const closed = new Promise<void>((close) => server.once("close", close));
      resolve({
        url: `${secure === undefined ? "http" : "https"}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${found}`,
        stopListening,
        async close() {
          await stopListening();
          isClosing = true;
          const timers = [
            setTimeout(() => {
              server.closeIdleConnections();
            }, quietMs),
            setTimeout(() => {
              server.closeAllConnections();
            }, lastAnswersMs),
          ];
          await closed;
          for (const timer of timers) clearTimeout(timer);
        },
      });
    });
    server.maxConnections = connections;
    server.setTimeout(stallMs);
    server.once("error", reject);
    server.listen(port, hostname);
  });
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

function securely(secure: Secure, options: ServerOptions, answer: Listener, handshakes: number): SecureServer {
  const server = createSecureServer(options, answer);
  boundHandshakes(server, handshakes);
  secure.onServer(server);
  return server;
}

/**
 * A server's `stopListening`.
 *
 * @returns what closes the port once, and resolves when that is done
 */
export function portCloser(server: NetServer): (lingerMs?: number) => Promise<void> {
  let stopped: Promise<void> | undefined;
  const stop = async (lingerMs: number) => {
    if (lingerMs > 0) await untilNobodyComes(server, lingerMs);
    // HTTP's own way to close ends connections at once that look idle, among them those whose next request is on its way.
    NetServer.prototype.close.call(server);
  };
  return (lingerMs = 0) => {
    stopped ??= stop(lingerMs);
    return stopped;
  };
}

/** Resolves when no connection was taken in for so long, or too many were. */
async function untilNobodyComes(server: NetServer, ms: number): Promise<void> {
  let lastMs = performance.now();
  const endMs = lastMs + mostLingerMs;
  server.on("connection", () => {
    lastMs = performance.now();
  });
  do {
    await sleep(ms);
    // A timer that is late comes before the connections that have waited with it.
    await setImmediate();
  } while (performance.now() - lastMs < ms && performance.now() < endMs);
}

/** Answers that are the last on their connections, and say so, if they begin when nothing more is to come. To keep a list of those under way would cost each of them. */
function lastWhere(isClosing: () => boolean): typeof ServerResponse {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
      if (isClosing() && !this.headersSent) this.setHeader("connection", "close");
      return typeof reason === "string"
        ? super.writeHead(status, reason, headers)
        : super.writeHead(status, headers ?? reason);
    }
  };
}
