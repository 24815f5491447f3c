import { PortolanError } from "../../base/diagnostic.ts";
import { locationsOf, type SourceLocations } from "../../compile/source-locations.ts";
import type { ExplainedRefusal } from "../../front/nodes/explain-refusal.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** Says of refusals where the objects behind each suspect stood in the version that is refused. */
export type LocateRefusals = (refusals: readonly ExplainedRefusal[]) => Promise<readonly ExplainedRefusal[]>;

/** Versions whose places are remembered: nodes refuse the newest, and in a rollout the one before. */
const maxRoots = 2;

export function refusalLocations(store: ObjectStore, reader: Pick<SnapshotReader, "root">): LocateRefusals {
  const known = new Map<string, Promise<SourceLocations>>();

  function placesAt(root: string): Promise<SourceLocations> {
    const before = known.get(root);
    if (before !== undefined) return before;
    const [oldest] = known.keys();
    if (known.size >= maxRoots && oldest !== undefined) known.delete(oldest);
    const places = read(root).catch((cause: unknown) => {
      known.delete(root);
      // A version that the store has no more: objects are named without a place.
      if (!(cause instanceof PortolanError)) throw cause;
      return new Map<string, string>();
    });
    known.set(root, places);
    return places;
  }

  const read = async (root: string): Promise<SourceLocations> =>
    locationsOf(store, (await reader.root(root)).root.sources);

  return async (refusals) =>
    Promise.all(
      refusals.map(async (refusal) => {
        if (refusal.suspects === undefined || refusal.suspects.length === 0) return refusal;
        const places = await placesAt(refusal.root);
        const suspects = refusal.suspects.map((suspect) => ({
          ...suspect,
          at: suspect.from.flatMap((key) => places.get(key) ?? []),
        }));
        return { ...refusal, suspects };
      }),
    );
}
