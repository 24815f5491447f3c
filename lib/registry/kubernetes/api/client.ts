import { PortolanError } from "../../../config/diagnostic.ts";
import { fieldsOf, textOf } from "../../../config/untyped.ts";

/** How to talk to one API server. Nothing here needs Node: `fetch` brings the trust in the server's certificate. */
export interface ApiClient {
  readonly fetch: typeof fetch;
  /** Without final slash. */
  readonly baseUrl: string;
  /** Bearer token, asked for again with every request, because tokens rotate; absent: none is sent. */
  readonly token?: () => Promise<string>;
}

/** An answer that is no success, read as far as it says anything. */
export interface ApiFailure {
  readonly status: number;
  /** `Expired`, `NotFound` …; "" where the answer is no `Status`. */
  readonly reason: string;
  readonly message: string;
  /** Seconds to wait first; 0 where the server does not say. */
  readonly retryAfter: number;
}

export type ApiAnswer = { readonly response: Response } | { readonly failure: ApiFailure };

async function failureOf(response: Response): Promise<ApiFailure> {
  const text = await response.text();
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
    message: textOf(status.message) || text.trim(),
    retryAfter: Number.isFinite(seconds) ? seconds : 0,
  };
}

async function ask(client: ApiClient, path: string, signal: AbortSignal | undefined): Promise<ApiAnswer> {
  const token = await client.token?.();
  const response = await client.fetch(`${client.baseUrl}${path}`, {
    headers: { accept: "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(signal === undefined ? {} : { signal }),
  });
  return response.ok ? { response } : { failure: await failureOf(response) };
}

/** Asks once; after a 401 once more, with a token read anew. @throws whatever `fetch` throws */
export async function get(client: ApiClient, path: string, signal?: AbortSignal): Promise<ApiAnswer> {
  const answer = await ask(client, path, signal);
  return "failure" in answer && answer.failure.status === 401 ? ask(client, path, signal) : answer;
}

/** The error for an answer that ends an attempt. */
export function apiError(path: string, { status, reason, message }: ApiFailure): PortolanError {
  return new PortolanError(`the API server answered ${path} with ${status} ${reason}: ${message}`);
}
