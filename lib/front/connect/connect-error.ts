import { Code, ConnectError } from "@connectrpc/connect";
import type { Answer } from "../requests/answer.ts";
import { connectProblem, type Status } from "./connect-problem.ts";

const codes: Readonly<Record<Status, Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  409: Code.AlreadyExists,
  410: Code.FailedPrecondition,
  413: Code.ResourceExhausted,
  415: Code.Unimplemented,
  500: Code.Internal,
  503: Code.Unavailable,
};

/** A refusal for gRPC and gRPC-Web. */
export function connectErrorOf({ status, reason }: { readonly status: Status; readonly reason: string }): ConnectError {
  return new ConnectError(reason, codes[status]);
}

/** An error that a call threw, in Connect's unary protocol. */
export function connectProblemOf({ code, rawMessage }: ConnectError): Answer {
  const status = statuses.find((known) => codes[known] === code) ?? 500;
  return connectProblem(status, rawMessage);
}

const statuses = [400, 401, 403, 404, 409, 410, 413, 415, 500, 503] as const;
