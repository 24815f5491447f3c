import { PortolanError } from "../../../base/diagnostic.ts";
import { fieldsOf, textOf } from "../../../base/untyped.ts";
import { textWithin } from "../../bounded-text.ts";

/** How to talk to one API server. Nothing here needs Node: `fetch` brings the trust in the server's certificate. */
export interface ApiClient {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Without final slash. */
  readonly baseUrl: string;
  /**
   * Bearer token, asked for again with every request, because tokens rotate; absent: none is sent.
   *
   * @param isRefused the server has just refused the one before
   */
  readonly token?: (isRefused: boolean) => Promise<string>;
}

/** An answer that is no success, read as far as it says anything. */
export interface ApiFailure {
  readonly status: number;
  /** `Expired`, `NotFound` …; "" where the answer is no `Status`. */
  readonly reason: string;
  readonly message: string;
  /** Seconds to wait first, at most half a minute; 0 where the server does not say. */
  readonly retryAfter: number;
}

export type ApiAnswer = { readonly response: Response } | { readonly failure: ApiFailure };

/** What to ask for, where it is not simply read. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Media type of the body; JSON when absent. */
  readonly contentType?: string;
  /** Media type of the answer; JSON when absent. */
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A page of 500 objects, each of a hundred kilobytes. */
const mostBytes = 64 * 2 ** 20;
const mostFailureBytes = 2 ** 20;

/** The JSON of an answer. @throws PortolanError for one of more than 64 MiB, SyntaxError for what is no JSON */
export async function jsonOf(path: string, response: Response): Promise<unknown> {
  return JSON.parse(await textWithin(response, mostBytes, `the answer to ${path}`));
}

/** Seconds. A server that asks for more is asked again all the same: nobody knows better than half a minute ahead. */
const longestWait = 30;

async function failureOf(response: Response): Promise<ApiFailure> {
  const text = await textWithin(response, mostFailureBytes, `an answer ${response.status} of the API server`);
  let status: Readonly<Record<string, unknown>> = {};
  try {
    status = fieldsOf(JSON.parse(text));
  } catch {
    // A group that is not installed is answered in plain text; the text is then the message.
  }
  const seconds = Number(response.headers.get("retry-after") ?? fieldsOf(status.details).retryAfterSeconds);
  return {
    status: response.status,
    reason: textOf(status.reason),
    message: textOf(status.message) || text.trim().slice(0, 1_000),
    retryAfter: Number.isNaN(seconds) ? 0 : Math.min(longestWait, Math.max(0, seconds)),
  };
}

async function ask(client: ApiClient, path: string, request: ApiRequest, isRefused: boolean): Promise<ApiAnswer> {
  const { method = "GET", body, accept = "application/json", contentType = "application/json", signal } = request;
  const token = await client.token?.(isRefused);
  const response = await client.fetch(client.baseUrl + path, {
    method,
    headers: {
      accept,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": contentType }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  return response.ok ? { response } : { failure: await failureOf(response) };
}

/** Asks once; after a 401 once more, with a token read anew. @throws whatever `fetch` throws */
export async function send(client: ApiClient, path: string, request: ApiRequest): Promise<ApiAnswer> {
  const answer = await ask(client, path, request, false);
  return "failure" in answer && answer.failure.status === 401 ? ask(client, path, request, true) : answer;
}

/** Whether the server may answer otherwise in a moment. */
export const isWorthRetrying = ({ status }: ApiFailure): boolean => status === 429 || status >= 500;

/** The error for an answer that ends an attempt. */
export function apiError(path: string, { status, reason, message }: ApiFailure): PortolanError {
  return new PortolanError(`the API server answered ${path} with ${status} ${reason}: ${message}`);
}
