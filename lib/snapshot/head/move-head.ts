import { blobKey, headKey, jsonBlob } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { cutWords } from "../free-text.ts";
import type { Canary, Cohort, ConfigurationChange, Head, Pin, Publication, PublicationReason } from "../root.ts";
import { lastRoot, type ReadHead } from "./head.ts";
import { type HeadCopy, keepHeadCopy } from "./head-copy.ts";
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
  /** What HEAD leads to from now on; absent: what it led to before. */
  readonly configurations?: Configurations;
  /** As in `Publication`. */
  readonly back?: string;
  readonly recorded?: string;
}

/** Configurations by name, as in `ConfigurationChange`. */
export type Configurations = Pick<ConfigurationChange, "served" | "newest">;

/** What HEAD is moved on from: the one that was read, or the one to go on from where HEAD has no tag, being gone. */
export type HeadBase = Pick<ReadHead, "head"> & { readonly etag: string | undefined };

/** What HEAD is to be and the entry of its history, for when what they lead to is in the store. */
export type PlannedMove = HeadCopy;

/**
 * What HEAD and its history are to say.
 *
 * @throws PortolanError when HEAD was signed before, and there is no key to sign it with now: readers would not follow
 */
export async function planMove(
  base: HeadBase | undefined,
  change: HeadChange,
  nowMs: number,
  signer?: SigningJwk,
): Promise<PlannedMove> {
  const { steps, canary, newest, cohorts, reason, root = lastRoot(steps), held, by, why } = cutWords(change);
  const pin = change.pin && cutWords(change.pin);
  const { configurations, back, recorded } = change;
  if (base?.head.signatures !== undefined && signer === undefined) {
    throw new PortolanError("HEAD is signed, and there is no key to sign it with: `portolan keys list --use roots`");
  }
  const generation = (base?.head.generation ?? 0) + 1;
  const at = new Date(nowMs).toISOString();
  const before = base?.head.change;
  const isChange =
    configurations !== undefined &&
    (back !== undefined || configurations.served !== before?.served || configurations.newest !== before.newest);
  const entry: Publication = {
    generation,
    root,
    parent: base?.head.publication ?? "",
    at,
    reason,
    ...(held === true ? { held } : {}),
    ...(by === undefined || by === "" ? {} : { by }),
    ...(why === undefined || why === "" ? {} : { why }),
    ...(reason === "canary" && canary !== undefined ? { canary } : {}),
    ...(isChange ? { configuration: held === true ? configurations.newest : configurations.served } : {}),
    ...(before === undefined ? {} : { changed: before.publication }),
    ...(back === undefined ? {} : { back }),
    ...(recorded === undefined ? {} : { recorded }),
  };
  const publication = jsonBlob(entry);
  const changeNow = isChange ? { publication: publication.hash, ...configurations } : before;
  const unsigned: Head = {
    generation,
    publication: publication.hash,
    steps,
    ...(canary === undefined ? {} : { canary }),
    ...(pin === undefined ? {} : { pin }),
    ...(newest === undefined || newest === lastRoot(steps) ? {} : { newest }),
    at,
    ...(cohorts === undefined || (cohorts.length === 0 && canary === undefined) ? {} : { cohorts }),
    ...(changeNow === undefined ? {} : { change: changeNow }),
  };
  return { head: signer === undefined ? unsigned : await signHead(signer, unsigned), publication };
}

/** Writes the entry of the history, which HEAD is to name: before HEAD, so that the chain never has a hole. */
export async function writeEntry(store: ObjectStore, { publication }: PlannedMove): Promise<void> {
  await store.put(blobKey(publication.hash), publication.bytes, { ifNoneMatch: "*" });
}

/**
 * Moves HEAD if it still is what `base` says. The entry was written before; one whose HEAD lost hangs in the air until it is collected.
 *
 * @param moved called when HEAD has moved, while its copy is kept
 * @returns bytes that were written with the entry; undefined when somebody else was faster
 */
export async function makeMove(
  store: ObjectStore,
  base: HeadBase | undefined,
  move: PlannedMove,
  moved: () => Promise<void> = async () => {},
): Promise<number | undefined> {
  const bytes = new TextEncoder().encode(JSON.stringify(move.head));
  const etag = base?.etag;
  const put = await store.put(headKey, bytes, etag === undefined ? { ifNoneMatch: "*" } : { ifMatch: etag });
  if (put.kind === "lost") return undefined;
  await Promise.all([keepHeadCopy(store, move), moved()]);
  return bytes.length + move.publication.bytes.length;
}

/**
 * Plans a move and makes it at once: for whoever leads to what is in the store.
 *
 * @returns undefined when somebody else was faster
 * @throws PortolanError as `planMove`
 */
export async function moveHead(
  store: ObjectStore,
  base: HeadBase | undefined,
  change: HeadChange,
  nowMs: number,
  signer?: SigningJwk,
): Promise<Head | undefined> {
  const move = await planMove(base, change, nowMs, signer);
  await writeEntry(store, move);
  return (await makeMove(store, base, move)) === undefined ? undefined : move.head;
}
