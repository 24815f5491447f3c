import { PortolanError } from "../../config/diagnostic.ts";
import { headTimeNow } from "../../snapshot/head/clock.ts";
import { newestRoot, readHead, rootAt } from "../../snapshot/head/head.ts";
import { readHistory } from "../../snapshot/head/history.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** For the help of every command that takes one. */
export const rootNames =
  "A root is named by its generation, its 64 digits or the first of them (6 or more), HEAD or HEAD~2, SERVED, or NEWEST (past a pin).";

const minDigits = 6;

/**
 * The root that a person names: `SERVED`, `NEWEST`, `HEAD`, `HEAD~2`, a generation, or a root or the beginning of one. A number
 * is a generation where there is one.
 *
 * @throws PortolanError when the history has none, or several that begin so
 */
export async function rootNamed(
  store: ObjectStore,
  name: string,
  reader: SnapshotReader = createSnapshotReader(store),
): Promise<string> {
  const read = await readHead(store);
  if (read === undefined) throw new PortolanError("nothing was published yet");
  if (name === "SERVED") return rootAt(read.head, await headTimeNow(store, read, Date.now));
  if (name === "NEWEST") return newestRoot(read.head);
  const back = /^HEAD(?:~(\d+))?$/.exec(name);
  const alike = new Set<string>();
  let seen = 0;
  for await (const { generation, root } of readHistory(reader, read.head.publication)) {
    if (back === null ? name === String(generation) : seen === Number(back[1] ?? 0)) return root;
    if (name.length >= minDigits && root.startsWith(name.toLowerCase())) alike.add(root);
    seen += 1;
  }
  const [only, other] = alike;
  if (other !== undefined) throw new PortolanError(`${alike.size} roots begin with ${name}; give more of its digits`);
  // One that was collected from the history may have its blobs still.
  const found = only ?? (/^[0-9a-f]{64}$/.test(name) ? name : undefined);
  if (found === undefined) {
    const all = seen === 1 ? "there is one only" : "`portolan history` lists them";
    throw new PortolanError(`there is no publication ${name}; ${all}`);
  }
  return found;
}
