import type { BodyPool } from "../../limits/body-pool.ts";
import { bytesOf, type Carrier, readBody } from "../../limits/read-body.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { once, problem, type StillMine } from "./delivery.ts";
import { sha256Hex } from "./hmac.ts";
import { judgeHeaders } from "./signature.ts";

export interface Guarded {
  /** Of which one must have signed the request. */
  readonly secrets: readonly string[];
  /** Path and query from the compile function's address on. */
  readonly target: string;
  readonly maxBytes: number;
  /** Good for once: for whatever changes something. */
  readonly once: boolean;
}

/** Lets a request of our own pass: headers first, then its body, then whether it came before. `act` is told the secret that has signed it. */
export type Guard = (
  carrier: Carrier,
  guarded: Guarded,
  act: (body: Uint8Array<ArrayBuffer>, stillMine: StillMine, secret: string) => Promise<Response>,
) => Promise<Response>;

export function createGuard(store: ObjectStore, pool: BodyPool, now: () => number): Guard {
  return async (carrier, { secrets, target, maxBytes, once: isOnce }, act) => {
    const request = carrier.req.raw;
    const header = (name: string) => request.headers.get(name) ?? undefined;
    const verdict = await judgeHeaders(secrets, { method: request.method, target, header }, now());
    if (verdict.kind === "refused") return problem(401, verdict.reason);
    const read = await readBody(carrier, { maxBytes, pool });
    if (read.kind === "refused") return problem(read.status, read.reason);
    const bytes = bytesOf(read);
    if ((await sha256Hex(bytes)) !== verdict.bodyHash) return problem(401, "the body is not the one that was signed");
    if (!isOnce) return act(bytes, async () => {}, verdict.secret);
    return once(store, "portolan", verdict.key, now, (stillMine) => act(bytes, stillMine, verdict.secret));
  };
}
