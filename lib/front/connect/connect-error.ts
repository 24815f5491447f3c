import { Code, ConnectError } from "@connectrpc/connect";
import type { Refused } from "../polls/outcome.ts";
import { retryAfter } from "../polls/responses.ts";

type Status = Refused["status"] | 401 | 409 | 500;

/** @see https://connectrpc.com/docs/protocol/#error-codes */
const errors = {
  400: { code: Code.InvalidArgument, name: "invalid_argument", http: 400 },
  401: { code: Code.Unauthenticated, name: "unauthenticated", http: 401 },
  403: { code: Code.PermissionDenied, name: "permission_denied", http: 403 },
  404: { code: Code.NotFound, name: "not_found", http: 404 },
  409: { code: Code.AlreadyExists, name: "already_exists", http: 409 },
  413: { code: Code.ResourceExhausted, name: "resource_exhausted", http: 429 },
  // Connect says so of a compression that a server does not know.
  415: { code: Code.Unimplemented, name: "unimplemented", http: 501 },
  500: { code: Code.Internal, name: "internal", http: 500 },
  503: { code: Code.Unavailable, name: "unavailable", http: 503 },
} as const;

/** A refusal for gRPC and gRPC-Web. */
export function connectErrorOf({ status, reason }: { readonly status: Status; readonly reason: string }): ConnectError {
  return new ConnectError(reason, errors[status].code);
}

/** An error of Connect's unary protocol. */
export function connectProblem(status: Status, message: string): Response {
  const { name, http } = errors[status];
  return Response.json({ code: name, message }, { status: http, headers: retryAfter(http) });
}

/** The same of an error that a call threw. */
export function connectProblemOf({ code, rawMessage }: ConnectError): Response {
  const status = statuses.find((known) => errors[known].code === code) ?? 500;
  return connectProblem(status, rawMessage);
}

const statuses = [400, 401, 403, 404, 409, 413, 415, 500, 503] as const;
