import { type IncomingHttpHeaders, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { causeText, codeOf } from "../../base/cause-text.ts";
import { hostIn } from "../../base/loopback.ts";
import { isSecure, portIn } from "../server-url.ts";
import { oneLine } from "../terminal.ts";
import type { Server } from "./deployment.ts";

/** A request of a check. */
export interface Ask {
  readonly method?: "GET" | "POST" | "OPTIONS";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Of the answer's body; 1 MiB when absent. */
  readonly maxBytes?: number;
}

export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Until the answer began. */
  readonly elapsedMs: number;
}

/** What came of a request; a failure says why, and nothing is thrown. */
export type Answer = Answered | { readonly kind: "failed"; readonly reason: string; readonly elapsedMs: number };

const mebibyte = 1024 * 1024;

/**
 * Asks once, on a connection of its own. Certificates are checked; redirections are not followed, because no Envoy follows them.
 *
 * @param server.timeoutMs from the connection to the end of the answer
 */
export function exchange(server: Server, ask: Ask): Promise<Answer> {
  const { url, ca, timeoutMs } = server;
  const { method = "GET", path, headers = {}, body, maxBytes = mebibyte } = ask;
  const host = hostIn(url);
  const begunMs = performance.now();
  const options: RequestOptions = {
    host,
    port: portIn(url),
    path,
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }) },
    // No connection is kept, so that none is found closed by the server.
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  };
  return new Promise((resolve) => {
    let hasBegun = false;
    const fail = (reason: string) =>
      resolve({ kind: "failed", reason: oneLine(reason), elapsedMs: performance.now() - begunMs });
    const failBy = (cause: unknown) => fail(troubleIn(cause, hasBegun, timeoutMs));
    const request = isSecure(url)
      ? requestHttps({ ...options, ...(ca === undefined ? {} : { ca }), servername: isIP(host) === 0 ? host : "" })
      : requestHttp(options);
    request.on("error", failBy);
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      fail(`it answers ${response.statusCode}, and leaves HTTP`);
    });
    request.on("close", () => hasBegun || fail("it closed the connection without an answer"));
    request.on("response", (response) => {
      hasBegun = true;
      const elapsedMs = performance.now() - begunMs;
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("error", failBy);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes <= maxBytes) return;
        fail(`its answer has more than ${maxBytes / mebibyte} MiB`);
        request.destroy();
      });
      response.on("end", () => {
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ kind: "answered", status, headers: answered, bytes: Buffer.concat(chunks), elapsedMs });
      });
    });
    request.end(body);
  });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "it closed the connection without an answer",
  EHOSTUNREACH: "there is no network route to it",
  ENETUNREACH: "there is no network route to it",
  EPIPE: "it closed the connection without an answer",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "it does not speak TLS: is it an http:// address?",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS: is it an http:// address?",
  ETIMEDOUT: "the connection timed out",
};

/** Why a connection or a request failed, in words. */
export function troubleIn(cause: unknown, hasBegun: boolean, timeoutMs: number): string {
  const name = cause instanceof Error ? cause.name : "";
  if (name === "AbortError" || name === "TimeoutError") {
    const seconds = timeoutMs / 1_000;
    return hasBegun ? `its answer did not end within ${seconds} s` : `no answer within ${seconds} s`;
  }
  const code = String(codeOf(cause));
  if (code.startsWith("HPE_")) return `its response is not HTTP (${code})`;
  if (hasBegun) return "its response was truncated";
  return reasons[code] ?? `${causeText(cause)} (${code})`;
}

const maxShown = 300;

/** The beginning of what another program wrote, on one line. */
export const shownText = (text: string): string => oneLine(text.trim()).slice(0, maxShown);
