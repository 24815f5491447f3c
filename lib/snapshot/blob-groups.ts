import type { LazyBlob } from "../base/blob.ts";

interface Named {
  readonly hash: string;
}

/** Blobs that are named together, a world's or a table's. Worlds that share them share the group as an object. */
export interface GroupOf<B extends Named> {
  readonly blobs: readonly B[];
  readonly groups: readonly GroupOf<B>[];
}

/** One whose blobs can be made. */
export type BlobGroup = GroupOf<LazyBlob>;

/** One of which the names are known, by what was read of the store. */
export type NamedGroup = GroupOf<Named>;

/** All of some groups, by hash. */
export function blobsIn<B extends Named>(groups: readonly GroupOf<B>[]): ReadonlyMap<string, B> {
  return blobsBeside(groups, []);
}

/** Those that are in none of the others, by hash. What both have as an object is not gone through: a change costs what it touches. */
export function blobsBeside<B extends Named>(
  groups: readonly GroupOf<B>[],
  others: readonly NamedGroup[],
): ReadonlyMap<string, B> {
  const blobs = new Map<string, B>();
  const known = new Set<string>();
  let [here, there]: [readonly GroupOf<B>[], readonly NamedGroup[]] = [groups, others];
  while (here.length > 0) {
    // What stands at one place in both, which is most, is found with a look.
    [here, there] = [notAtPlacesOf(here, there), notAtPlacesOf(there, here)];
    // Tables of all namespaces name the same lists: each is gone through once.
    const inHere = new Set(here);
    const inThere = new Set(there);
    here = [...inHere].filter((group) => !inThere.has(group));
    there = [...inThere].filter((group) => !inHere.has(group as GroupOf<B>));
    for (const blob of here.flatMap((group) => group.blobs)) blobs.set(blob.hash, blob);
    for (const { hash } of there.flatMap((group) => group.blobs)) known.add(hash);
    here = here.flatMap((group) => group.groups);
    there = there.flatMap((group) => group.groups);
  }
  for (const hash of known) blobs.delete(hash);
  return blobs;
}

const notAtPlacesOf = <G extends NamedGroup>(groups: readonly G[], others: readonly NamedGroup[]): readonly G[] =>
  groups.filter((group, at) => group !== others[at]);
