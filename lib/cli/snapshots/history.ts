import { readHead, rootAt } from "../../snapshot/head.ts";
import { readHistory } from "../../snapshot/history.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import type { Terminal } from "../terminal.ts";
import { openStore } from "./open-store.ts";

export interface PublicationsOptions {
  readonly store: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** What was published, newest first; `>` marks what is served now. */
export async function showPublications(terminal: Terminal, options: PublicationsOptions): Promise<void> {
  const store = openStore(options.store);
  const read = await readHead(store);
  if (read === undefined) {
    terminal.err("nothing was published yet");
    return;
  }
  const served = rootAt(read.head, Date.now());
  let left = options.limit;
  let isMarked = false;
  for await (const entry of readHistory(createSnapshotReader(store), read.head.publication)) {
    if (left <= 0) return;
    left -= 1;
    const { generation, at, reason, root } = entry;
    // A rollback leads to a root that stands further down as well: the newest entry is the one in force.
    const mark = root === served && !isMarked ? ">" : " ";
    if (root === served) isMarked = true;
    terminal.out(
      options.json === true
        ? JSON.stringify({ generation, at, reason, root })
        : `${mark} ${String(generation).padStart(5)}  ${at}  ${reason.padEnd(8)}  ${root.slice(0, 12)}`,
    );
  }
}
