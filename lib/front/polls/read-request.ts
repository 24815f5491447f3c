import type { BodyReader, ReadBody, WholeBody } from "../../limits/read-body.ts";
import type { Front } from "../front.ts";
import { type Refused, refuse } from "./outcome.ts";

/** Reads the body of a request within the limits; nobody keeps any of it but what `read` makes of it. */
export async function readRequest<T>(
  front: Front,
  readBody: BodyReader,
  maxBytes: number,
  read: (body: WholeBody) => { readonly request: T } | { readonly problem: string },
): Promise<{ readonly request: T } | Refused> {
  return requestIn(await readBody({ maxBytes, pool: front.bodies }), read);
}

/** The request in a body that was read, or not. */
export function requestIn<T>(
  body: ReadBody,
  read: (body: WholeBody) => { readonly request: T } | { readonly problem: string },
): { readonly request: T } | Refused {
  if (body.kind === "refused") return refuse(body.status, body.status === 503 ? "busy" : "bad-request", body.reason);
  const asked = read(body);
  return "problem" in asked ? refuse(400, "bad-request", asked.problem) : asked;
}
