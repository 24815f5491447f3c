import type { Answer } from "../requests/answer.ts";
import { problem } from "../requests/answer.ts";
import type { Authentication, Credentials, Identified } from "./authentication.ts";
import { type Caller, mayUse, type Scope } from "./caller.ts";

/** A sender that may send its request, or why it may not. */
export type Admitted = (Identified & { readonly kind: "identified" }) | NotAdmitted;

export interface NotAdmitted {
  readonly kind: "refused";
  readonly status: 401 | 403 | 503;
  readonly reason: string;
}

/**
 * Decides whether a request may be answered: the one place where every transport asks, before it reads anything of a body. What the sender
 * may see of the answer, each handler decides.
 */
export function admit(
  authentication: Authentication,
  credentials: Credentials,
  scope: Scope,
): Admitted | Promise<Admitted> {
  const found = authentication.identify(credentials);
  return found instanceof Promise ? found.then((one) => within(one, scope)) : within(found, scope);
}

function within(found: Identified, scope: Scope): Admitted {
  if (found.kind === "refused" || mayUse(found.caller, scope)) return found;
  const { caller } = found;
  const who = caller.kind === "anyone" ? "anyone" : caller.subject;
  return { kind: "refused", status: 403, reason: `${who} is let in for ${caller.kind}, and this is for ${scope}` };
}

/** What the sender of a request is told that may not send it. */
export const refusedAnswer = ({ status, reason }: NotAdmitted): Answer =>
  problem(status, reason, status === 401 ? { "www-authenticate": "Bearer" } : {});

/** The caller behind a path that needs one. @throws where none was asked for, which is a bug of ours */
export function callerOf({ caller }: { readonly caller: Caller | undefined }): Caller {
  if (caller === undefined) throw new Error("the caller was not authenticated");
  return caller;
}
