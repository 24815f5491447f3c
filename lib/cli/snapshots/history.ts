import { headTimeNow } from "../../snapshot/head/clock.ts";
import { readHead, rootAt, servedConfiguration } from "../../snapshot/head/head.ts";
import {
  configurationIn,
  type HistoryEntry,
  isServedToAll,
  readChanges,
  readHistory,
} from "../../snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { openThere } from "../named-store.ts";
import { proseLine, type Terminal } from "../terminal.ts";
import { nothingPublished } from "./nothing-published.ts";
import { shareText } from "./share-options.ts";

export interface PublicationsOptions {
  readonly store?: string | undefined;
  readonly limit: number;
  readonly json?: boolean;
  /** Only what changed configuration; false when absent. */
  readonly config?: boolean;
}

/** What was published, newest first; `>` marks what is served now. */
export async function showPublications(terminal: Terminal, options: PublicationsOptions): Promise<void> {
  const store = await openThere(options.store);
  const read = await readHead(store);
  if (read === undefined) throw await nothingPublished(store);
  const { head } = read;
  const { config = false } = options;
  const served = config ? servedConfiguration(head) : rootAt(head, await headTimeNow(store, read, Date.now));
  const reader = createSnapshotReader(store);
  const leadsTo = config ? configurationIn : ({ root }: HistoryEntry): string => root;
  let left = options.limit;
  let isMarked = false;
  for await (const entry of config ? readChanges(reader, head) : readHistory(reader, head.publication)) {
    if (left <= 0) return;
    left -= 1;
    const { hash: _hash, parent: _parent, changed: _changed, ...shown } = entry;
    // A rollback leads to what stands further down as well: the newest entry is the one in force.
    const isServed = leadsTo(entry) === served && isServedToAll(entry) && !isMarked;
    if (isServed) isMarked = true;
    terminal.out(options.json === true ? JSON.stringify(shown) : `${isServed ? ">" : " "} ${lineOf(entry)}`);
  }
}

/** The row of a canary names what is tried: what everybody else gets stays as it was. */
function lineOf({ generation, at, reason, root, held, by, why, canary, recorded }: HistoryEntry): string {
  const notes = [
    ...(canary !== undefined ? [`for ${shareText(canary)}`] : held === true ? ["not served"] : []),
    ...(recorded === undefined ? [] : [`records ${recorded.slice(0, 12)}, not served`]),
    ...(by === undefined ? [] : [`by ${by}`]),
    ...(why === undefined ? [] : [why]),
  ].join(", ");
  const line = `${String(generation).padStart(5)}  ${at}  ${reason.padEnd(8)}  ${(canary?.root ?? root).slice(0, 12)}`;
  return notes === "" ? line : `${line}  ${proseLine(notes)}`;
}
