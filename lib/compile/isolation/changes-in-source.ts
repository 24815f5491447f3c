import { diffTrees } from "../../config-store/ledger/merkle-tree.ts";
import { cutText } from "../../snapshot/free-text.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { isKeptKey, nodesOf, readHeadOf } from "../collected/collected-shard.ts";
import { openList } from "../shards/lists/open-list.ts";
import { listKey, readText, textIn, versionKey } from "../shards/source-shard.ts";
import { versionText } from "../shards/version-text.ts";

/** So many changes are named. */
const maxNamed = 5;
const maxNameBytes = 256;

/** Names of what differs between two versions of a source, and how many there are. */
export interface SourceChanges {
  readonly named: readonly string[];
  readonly count: number;
}

/**
 * What differs between two versions of a source: files of a folder, or objects that a collector has written.
 *
 * @throws PortolanError for a version that is not in the store any more, or is damaged
 */
export async function changesInSource(
  store: ObjectStore,
  name: string,
  before: string,
  now: string,
): Promise<SourceChanges> {
  const [one, other] = await Promise.all([filesOf(store, name, before), filesOf(store, name, now)]);
  if (one === undefined || other === undefined) return objectsIn(store, name, before, now);
  const names = [...new Set([...other.keys(), ...one.keys()])];
  return namedOf(names.filter((file) => one.get(file) !== other.get(file)));
}

/** Name of each file → what tells its text. @returns undefined for a source that a collector fills */
async function filesOf(
  store: ObjectStore,
  name: string,
  version: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await versionText(store, { present: listKey(name), kept: versionKey(name, version) }, version);
  const open = found && (await openList(textIn(found.bytes), (hash) => readText(store, name, hash)));
  return open && new Map(open.list.files.map(({ file, hash, problem = "" }) => [file, `${hash} ${problem}`]));
}

async function objectsIn(store: ObjectStore, name: string, before: string, now: string): Promise<SourceChanges> {
  const [one, other] = await Promise.all([readHeadOf(store, name, before), readHeadOf(store, name, now)]);
  if (one === undefined || other === undefined) return { named: [], count: 0 };
  const differences = await diffTrees(nodesOf(store, name), one.head.root, other.head.root);
  return namedOf(differences.map(({ key }) => key).filter((key) => !isKeptKey(key)));
}

const namedOf = (names: readonly string[]): SourceChanges => ({
  named: names.slice(0, maxNamed).map((name) => cutText(name, maxNameBytes)),
  count: names.length,
});
