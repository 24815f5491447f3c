import { PortolanError } from "../../base/diagnostic.ts";
import { headTimeNow } from "../../snapshot/head/clock.ts";
import { readHead } from "../../snapshot/head/head.ts";
import { rootNamedIn } from "../../snapshot/head/root-named.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { nothingPublished } from "./nothing-published.ts";

/** For the help of every command that takes one. */
export const rootNames =
  "A root is named by its generation, or by its 64 digits or the first 6 or more of them. Other names are HEAD, HEAD~2, SERVED, and NEWEST (past a pin).";

/**
 * The root that a person names, as `rootNames` says.
 *
 * @throws PortolanError when the history has none, or several that begin so
 */
export async function rootNamed(
  store: ObjectStore,
  name: string,
  reader: SnapshotReader = createSnapshotReader(store),
): Promise<string> {
  const read = await readHead(store);
  if (read === undefined) throw await nothingPublished(store);
  const named = await rootNamedIn(reader, read.head, await headTimeNow(store, read, Date.now), name);
  if (named.kind === "absent") throw new PortolanError(named.reason);
  return named.root;
}
