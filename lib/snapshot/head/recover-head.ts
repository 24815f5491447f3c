import { headKey } from "../../base/blob.ts";
import { NothingToDo, PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { NewerFormat } from "../format.ts";
import { createSnapshotReader, type SnapshotReader } from "../reader/snapshot-reader.ts";
import type { Head, Pin } from "../root.ts";
import { onClock, storeClock } from "./clock.ts";
import { lastRoot, parseHead, type ReadHead } from "./head.ts";
import { headCopies, mendHistory } from "./head-copy.ts";
import type { OperatorOptions } from "./head-operations.ts";
import { type HistoryEntry, readHistory } from "./history/history.ts";
import { writtenPublications } from "./lost-head.ts";
import { moveHead } from "./move-head.ts";
import { defaultPace } from "./plan-stages.ts";
import { isSigned, type Trust } from "./signatures.ts";

export interface Recovered {
  readonly head: Head;
  /** What everybody is led to. */
  readonly root: string;
  /** `copy`: HEAD as it was last kept; `history`: guessed from entries of the history, and pinned for somebody to look at. */
  readonly from: "copy" | "history";
  /** Entries of later generations, of which nobody can tell whether they came into force. */
  readonly unproven: readonly HistoryEntry[];
}

/**
 * Rebuilds a HEAD that is gone or garbage, from its newest copy with all that it held: steps, pin, canary. Without a copy, from the
 * newest entry of the history. Its generation is above every one that was ever written, so that no reader takes it for an older one.
 *
 * @throws NothingToDo when HEAD can be read, by this version or by a newer one; PortolanError when nothing is left to rebuild it from, or somebody else wrote one meanwhile
 */
export async function recoverHead(store: ObjectStore, options: OperatorOptions = {}): Promise<Recovered> {
  const { by = "", why = "", now = Date.now, pace = defaultPace, signer } = options;
  const trusted = options.trusted ?? (signer === undefined ? undefined : [signer]);
  const lost = await store.get(headKey);
  if (lost.kind === "found" && isHead(lost.bytes)) {
    throw new NothingToDo("HEAD can be read, and needs no recovery; `portolan fsck` looks at the rest");
  }
  const nowMs = (await storeClock(store, now))();
  const entries = await writtenPublications(store);
  const found = (await fromCopy(store, trusted)) ?? (await fromHistory(store, entries, by, nowMs));
  if (found === undefined) throw new PortolanError("there is neither a copy of HEAD nor a history; publish again");
  await mendHistory(store);

  const head = onClock({ ...found.read, etag: "" }, nowMs, pace);
  const unproven = entries.filter(({ generation }) => generation > head.generation);
  const generation = Math.max(head.generation, ...unproven.map((entry) => entry.generation));
  const base = { head: { ...head, generation }, etag: lost.kind === "found" ? lost.etag : undefined };
  // The history is nobody's word: whoever signs a guess has looked at it first.
  const vouched = found.from === "copy" ? signer : undefined;
  const moved = await moveHead(store, base, { ...head, reason: "recover", by, why }, nowMs, vouched);
  if (moved === undefined)
    throw new PortolanError("another process wrote a HEAD at the same moment; look at the history");
  return { head: moved, root: lastRoot(head.steps), from: found.from, unproven };
}

function isHead(bytes: Uint8Array): boolean {
  try {
    parseHead(bytes);
    return true;
  } catch (cause) {
    // Nothing is lost that a newer version can read.
    if (cause instanceof NewerFormat) throw cause;
    return false;
  }
}

type Found = Pick<Recovered, "from"> & { readonly read: Omit<ReadHead, "etag"> };

/** The newest copy that is signed, where that is asked for. */
async function fromCopy(store: ObjectStore, trusted: Trust["trusted"]): Promise<Found | undefined> {
  for await (const { head } of headCopies(store)) {
    if (trusted === undefined || (await isSigned(trusted, head))) return { from: "copy", read: { head } };
  }
  return undefined;
}

/** What was served by the newest entry. What was pinned is not known, so everybody is held there until somebody has looked. */
async function fromHistory(
  store: ObjectStore,
  entries: readonly HistoryEntry[],
  by: string,
  nowMs: number,
): Promise<Found | undefined> {
  const newestFirst = entries.toSorted(
    (a, b) => b.generation - a.generation || compare(b.at, a.at) || compare(a.hash, b.hash),
  );
  const reader = createSnapshotReader(store);
  const tip = await firstWithRoot(reader, newestFirst);
  if (tip === undefined) return undefined;
  for await (const { root, held } of readHistory(reader, tip.hash)) {
    if (held === true) continue;
    const at = new Date(nowMs).toISOString();
    const pin: Pin = { by, why: "HEAD was rebuilt from the history, which does not say what was pinned", since: at };
    const { generation, hash: publication } = tip;
    return {
      from: "history",
      read: { head: { generation, publication, steps: [{ root, at }], pin, newest: tip.root } },
    };
  }
  return undefined;
}

/** An entry is written beside its root: that of a publisher who was killed may name one that is not there. */
async function firstWithRoot(
  reader: SnapshotReader,
  entries: readonly HistoryEntry[],
): Promise<HistoryEntry | undefined> {
  for (const entry of entries) {
    const isThere = await reader.root(entry.root).then(
      () => true,
      (cause: unknown) => {
        // One of a newer version is there for its readers.
        if (cause instanceof NewerFormat) return true;
        if (cause instanceof PortolanError) return false;
        throw cause;
      },
    );
    if (isThere) return entry;
  }
  // None can be served; the newest is what a repair would bring back.
  return entries[0];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
