import type { Refused } from "../polls/outcome.ts";
import { type Answer, noHeaders, retryAfter } from "../requests/answer.ts";

/** What a call may end with, as this front says it to everybody. */
export type Status = Refused["status"] | 401 | 409 | 500;

/** @see https://connectrpc.com/docs/protocol/#error-codes */
const errors: Readonly<Record<Status, { readonly name: string; readonly http: number }>> = {
  400: { name: "invalid_argument", http: 400 },
  401: { name: "unauthenticated", http: 401 },
  403: { name: "permission_denied", http: 403 },
  404: { name: "not_found", http: 404 },
  409: { name: "already_exists", http: 409 },
  // What a call builds on is not there.
  410: { name: "failed_precondition", http: 400 },
  413: { name: "resource_exhausted", http: 429 },
  // Connect says so of a compression that a server does not know.
  415: { name: "unimplemented", http: 501 },
  500: { name: "internal", http: 500 },
  503: { name: "unavailable", http: 503 },
};

/** An error of Connect's unary protocol. */
export function connectProblem(status: Status, message: string, headers: Answer["headers"] = noHeaders): Answer {
  const { name, http } = errors[status];
  return {
    status: http,
    headers: { ...retryAfter(http), ...headers, "content-type": "application/json" },
    body: JSON.stringify({ code: name, message }),
  };
}
