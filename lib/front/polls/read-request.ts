import type { BodyReader, WholeBody } from "../../limits/read-body.ts";
import type { Front } from "../front.ts";
import { type Refused, refuse } from "./outcome.ts";

/** Reads the body of a request within the limits; nobody keeps any of it but what `read` makes of it. */
export async function readRequest<T>(
  front: Front,
  readBody: BodyReader,
  maxBytes: number,
  read: (body: WholeBody) => { readonly request: T } | { readonly problem: string },
): Promise<{ readonly request: T } | Refused> {
  const body = await readBody({ maxBytes, pool: front.bodies });
  if (body.kind === "refused") return refuse(body.status, body.status === 503 ? "busy" : "bad-request", body.reason);
  const asked = read(body);
  return "problem" in asked ? refuse(400, "bad-request", asked.problem) : asked;
}
