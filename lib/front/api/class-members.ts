import { byCodePoint } from "../../base/diagnostic.ts";
import { nodesIn } from "../../snapshot/nodes/node-index.ts";
import { namedPods } from "../../snapshot/nodes/node-names.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { NodeShard } from "../../snapshot/root.ts";
import { createLoadCache, type LoadCache } from "../../snapshot/worlds/load-cache.ts";

/** Who is of a class. */
export interface Members {
  /** `pod.namespace`, or `pod.namespace@cluster` where several clusters have it; sorted. */
  readonly nodes: readonly string[];
  /** `sidecar/shop`: nodes that are not known by themselves; sorted. */
  readonly defaultOf: readonly string[];
}

export interface ClassMembers {
  readonly byClass: ReadonlyMap<string, Members>;
  /** There are more keys in the node index than were gone over. */
  readonly isPartial: boolean;
}

export type MembersOfRoots = LoadCache<LoadedRoot, ClassMembers>;

/** Keys of the node index that are gone over for one version: some hundred thousand pods, by name, address and account. */
const maxKeys = 500_000;

export const createMembersOfRoots = (reader: SnapshotReader, maxBytes: number): MembersOfRoots =>
  createLoadCache<LoadedRoot, ClassMembers>({
    nameOf: ({ hash }) => hash,
    maxBytes,
    load: (loaded) => membersIn(reader, loaded),
    sizeOf: ({ byClass }) =>
      [...byClass.values()].reduce(
        (sum, { nodes }) => sum + 200 + nodes.reduce((all, name) => all + 50 + 2 * name.length, 0),
        0,
      ),
  });

async function membersIn(reader: SnapshotReader, { root, classifier, classes }: LoadedRoot): Promise<ClassMembers> {
  const nodes = new Map<string, string[]>();
  let keys = 0;
  for (const { hash } of root.nodes) {
    if (keys >= maxKeys) break;
    // A blob's name vouches for its content.
    const shard: NodeShard = JSON.parse(await reader.text(hash));
    const found = nodesIn(shard);
    keys += found.length;
    for (const { name, classId } of namedPods(found)) {
      const known = nodes.get(classId) ?? [];
      nodes.set(classId, known);
      known.push(name);
    }
  }
  const defaults = Map.groupBy(Object.entries(classifier.defaults), ([, id]) => id);
  const byClass = new Map(
    [...classes.keys()].map((id) => [
      id,
      {
        nodes: (nodes.get(id) ?? []).sort(byCodePoint),
        defaultOf: (defaults.get(id) ?? []).map(([key]) => key).sort(byCodePoint),
      },
    ]),
  );
  return { byClass, isPartial: keys >= maxKeys };
}
