import type { Limits } from "../limits/limits.ts";
import { type Carrier, readBody } from "../limits/read-body.ts";
import type { ExtensionLists } from "./extension-lists.ts";
import type { Front } from "./front.ts";
import { type Refused, refuse } from "./outcome.ts";

/** Reads the body of a request within the limits; nobody keeps any of it but what `read` makes of it. */
export async function readRequest<T>(
  front: Front,
  carrier: Carrier,
  maxBytes: number,
  read: (body: string, limits: Limits, lists: ExtensionLists) => { readonly request: T } | { readonly problem: string },
): Promise<{ readonly request: T } | Refused> {
  const body = await readBody(carrier, { maxBytes, pool: front.bodies });
  if (body.kind === "refused") return refuse(body.status, body.status === 503 ? "busy" : "bad-request", body.reason);
  const asked = read(new TextDecoder().decode(body.bytes), front.limits, front.extensionLists);
  return "problem" in asked ? refuse(400, "bad-request", asked.problem) : asked;
}
