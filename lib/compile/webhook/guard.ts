import type { BodyPool } from "../../limits/body-pool.ts";
import { bytesOf, type Carrier, readBody } from "../../limits/read-body.ts";
import { type Once, problem, type StillMine } from "./delivery.ts";
import { sha256Hex } from "./hmac.ts";
import { judgeHeaders } from "./signature.ts";
import { senderOf, type WebhookSecrets } from "./webhook-secrets.ts";

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

/** What a guard needs to know of the compile function that it stands before. */
export interface GuardOptions {
  readonly secrets: WebhookSecrets;
  /** The addresses that requests to it may be signed for; none: the one that a request was sent to. */
  readonly audiences: () => readonly string[];
  readonly pool: BodyPool;
  readonly once: Once;
  readonly now: () => number;
}

export function createGuard({ secrets: all, audiences, pool, once, now }: GuardOptions): Guard {
  return async (carrier, { secrets, target, maxBytes, once: isOnce }, act) => {
    const request = carrier.req.raw;
    const header = (name: string) => request.headers.get(name) ?? undefined;
    const named = audiences();
    const judged = {
      method: request.method,
      target,
      header,
      audiences: named.length > 0 ? named : [new URL(request.url).host],
    };
    const verdict = await judgeHeaders(secrets, judged, now());
    if (verdict.kind === "refused") return problem(401, verdict.reason);
    const read = await readBody(carrier, { maxBytes, pool });
    if (read.kind === "refused") return problem(read.status, read.reason);
    const bytes = bytesOf(read);
    if ((await sha256Hex(bytes)) !== verdict.bodyHash) return problem(401, "the body is not the one that was signed");
    if (!isOnce) return act(bytes, async () => {}, verdict.secret);
    return once(senderOf(all, verdict.secret), verdict.key, (stillMine) => act(bytes, stillMine, verdict.secret));
  };
}
