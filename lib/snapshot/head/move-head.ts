import { PortolanError } from "../../config/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey, headKey, jsonBlob } from "../blob.ts";
import type { Canary, Cohort, Head, Pin, Publication, PublicationReason } from "../root.ts";
import { lastRoot, type ReadHead } from "./head.ts";
import { keepHeadCopy } from "./head-copy.ts";
import { signHead } from "./signatures.ts";
import type { SigningJwk } from "./signing-keys.ts";

/** What HEAD is to say next, and what the history is to say of it. */
export interface HeadChange extends Pick<Head, "steps"> {
  readonly canary?: Canary | undefined;
  readonly pin?: Pin | undefined;
  readonly newest?: string | undefined;
  readonly cohorts?: readonly Cohort[] | undefined;
  readonly reason: PublicationReason;
  /** Root of the history's entry; that of the last step when absent. */
  readonly root?: string;
  readonly held?: boolean;
  readonly by?: string;
  readonly why?: string;
}

/** What HEAD is moved on from: the one that was read, or the one to go on from where HEAD has no tag, being gone. */
export type HeadBase = Pick<ReadHead, "head"> & { readonly etag: string | undefined };

/**
 * Moves HEAD if it still is what `base` says, and adds the move to the history. The publication is written first, so that the
 * chain never has a hole; one whose HEAD was lost hangs in the air until it is collected.
 *
 * @returns undefined when somebody else was faster
 * @throws PortolanError when HEAD was signed before, and there is no key to sign it with now: readers would not follow
 */
export async function moveHead(
  store: ObjectStore,
  base: HeadBase | undefined,
  change: HeadChange,
  nowMs: number,
  signer?: SigningJwk,
): Promise<{ readonly head: Head; readonly bytes: number } | undefined> {
  const { steps, canary, pin, newest, cohorts, reason, root = lastRoot(steps), held, by, why } = change;
  if (base?.head.signatures !== undefined && signer === undefined) {
    throw new PortolanError("HEAD is signed, and there is no key to sign it with: `portolan keys list --use roots`");
  }
  const generation = (base?.head.generation ?? 0) + 1;
  const at = new Date(nowMs).toISOString();
  const publication: Publication = {
    generation,
    root,
    parent: base?.head.publication ?? "",
    at,
    reason,
    ...(held === true ? { held } : {}),
    ...(by === undefined || by === "" ? {} : { by }),
    ...(why === undefined || why === "" ? {} : { why }),
    ...(reason === "canary" && canary !== undefined ? { canary } : {}),
  };
  const blob = jsonBlob(publication);
  await store.put(blobKey(blob.hash), blob.bytes, { ifNoneMatch: "*" });
  const unsigned: Head = {
    generation,
    publication: blob.hash,
    steps,
    ...(canary === undefined ? {} : { canary }),
    ...(pin === undefined ? {} : { pin }),
    ...(newest === undefined || newest === lastRoot(steps) ? {} : { newest }),
    at,
    ...(cohorts === undefined || (cohorts.length === 0 && canary === undefined) ? {} : { cohorts }),
  };
  const head = signer === undefined ? unsigned : await signHead(signer, unsigned);
  const bytes = new TextEncoder().encode(JSON.stringify(head));
  const etag = base?.etag;
  const put = await store.put(headKey, bytes, etag === undefined ? { ifNoneMatch: "*" } : { ifMatch: etag });
  if (put.kind === "lost") return undefined;
  await keepHeadCopy(store, { head, publication: blob });
  return { head, bytes: bytes.length + blob.bytes.length };
}
