import { PortolanError } from "../../base/diagnostic.ts";
import { whyUnread } from "../why-unread.ts";
import { type Answer, problem } from "./answer.ts";

export type OnError = (cause: unknown) => void;

/** The answer to a request that nobody could answer; the cause is in the log. */
export function failure(onError: OnError, cause: unknown): Answer {
  onError(cause);
  // A store that fails says so with a PortolanError. Anything else is a mistake of ours, and no store is to blame.
  if (cause instanceof PortolanError) return problem(503, whyUnread(cause));
  return problem(500, "an error of Portolan's own; its log has more");
}
