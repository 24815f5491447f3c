import type { ReadBody, WholeBody } from "../../limits/read-body.ts";
import { type Refused, refuse } from "./outcome.ts";

/** The request in a body that was read, or not; nobody keeps any of the body but what `read` makes of it. */
export function requestIn<T>(
  body: ReadBody,
  read: (body: WholeBody) => { readonly request: T } | { readonly problem: string },
): { readonly request: T } | Refused {
  if (body.kind === "refused") return refuse(body.status, body.status === 503 ? "busy" : "bad-request", body.reason);
  const asked = read(body);
  return "problem" in asked ? refuse(400, "bad-request", asked.problem) : asked;
}
