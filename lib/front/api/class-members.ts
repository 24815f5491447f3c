import { byCodePoint } from "../../config/diagnostic.ts";
import { isPodName } from "../../snapshot/classifier.ts";
import type { NodeShard } from "../../snapshot/root.ts";
import type { LoadedRoot, SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { createLoadCache, type LoadCache } from "../../snapshot/worlds/load-cache.ts";

/** Who is of a class. */
export interface Members {
  /** `pod.namespace`, sorted. */
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
    for (const [key, id] of Object.entries(shard.classes)) {
      keys += 1;
      if (!isPodName(key)) continue;
      const known = nodes.get(id) ?? [];
      nodes.set(id, known);
      known.push(key);
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
