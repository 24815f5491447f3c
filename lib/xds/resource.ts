import { byCodePoint, type ConfigKey } from "../base/diagnostic.ts";
import { internList } from "../incremental/keep-identity.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";

/** One xDS resource as the compiler makes it: plain JSON in protobuf's mapping, and the objects it came from. */
export interface Resource<Json extends object = object> {
  /** Unique within its type for one class. */
  readonly name: string;
  readonly json: Json;
  readonly from: readonly ConfigKey[];
  /** SHA-256 of the code that an Envoy without Istio's agent has from its front. Absent: none was fetched, or the resource is none with code. */
  readonly module?: string;
  /** Istio's agent is beside the Envoy, and fetches code of what comes over a stream. */
  readonly hasIstioAgent?: true;
}

/** The types served, by the last part of their REST path. */
export const resourceTypes = ["clusters", "endpoints", "listeners", "routes"] as const;
/** Those that few classes have. */
export type ExtraType = "extension_configs" | "name_tables";
export type ResourceType = (typeof resourceTypes)[number] | ExtraType;

/**
 * The resources of one type for one class: two lists sorted by name, no name twice in either or in both. What many classes have
 * is one list object, and every later stage goes over it once, however many classes there are.
 */
export interface Parted<R extends Resource = Resource> {
  readonly shared: readonly R[];
  /** What the class has besides: what it serves. */
  readonly own: readonly R[];
}

/** Everything generated for one class, by type. */
export type ClassResources = Readonly<Record<(typeof resourceTypes)[number], Parted>> &
  Readonly<Partial<Record<ExtraType, Parted>>>;

/** No resources: one list, so that what is made of it is made once. */
export const noResources: readonly never[] = [];

/** A type of which a class has nothing by itself. */
export const allShared = <R extends Resource>(shared: readonly R[]): Parted<R> => ({ shared, own: noResources });

/** A class that has nothing. */
export const noTypes: ClassResources = {
  clusters: allShared(noResources),
  endpoints: allShared(noResources),
  listeners: allShared(noResources),
  routes: allShared(noResources),
};

/** @param make keeps names */
export const mapParted = <R extends Resource, S extends Resource>(
  { shared, own }: Parted<R>,
  make: (list: readonly R[]) => readonly S[],
): Parted<S> => ({ shared: make(shared), own: make(own) });

/** All that a class has, sorted by name. */
export function wholeList<R extends Resource>({ shared, own }: Parted<R>): readonly R[] {
  return own.length === 0 ? shared : [...shared, ...own].sort((a, b) => byCodePoint(a.name, b.name));
}

/** Sorted by name; of several resources of one name the first stays. */
export function uniqueByName<R extends Resource>(resources: readonly R[]): readonly R[] {
  const sorted = resources.toSorted((a, b) => byCodePoint(a.name, b.name));
  return sorted.filter((resource, at) => resource.name !== sorted[at - 1]?.name);
}

interface Sides<R extends Resource> {
  readonly shared: readonly R[];
  /** May name what is shared. */
  readonly others: readonly R[];
}

/**
 * The class's own resources: the others, but for those whose names are taken by shared ones. Of one name the first stays.
 *
 * @returns one list for the same resources
 */
export function ownBeside<R extends Resource>(sides: Sides<R>, memo: Memo): readonly R[] {
  // Some of the others, which are all of that kind.
  return sides.others.length === 0 ? noResources : (ownOf(memo, sides) as readonly R[]);
}

const ownOf = query("own resources", ({ shared, others }: Sides<Resource>, memo: Memo): readonly Resource[] => {
  const taken = namesOf(memo, { list: shared });
  return internList(memo, uniqueByName(others.filter(({ name }) => !taken.has(name))));
});

const namesOf = query(
  "names of resources",
  ({ list }: { readonly list: readonly Resource[] }): ReadonlySet<string> => new Set(list.map(({ name }) => name)),
);
