import type { CoreType } from "../../snapshot/resource-type.ts";
import { emptyResource, type Unwritable } from "./local-resources.ts";
import { type LocalResource, type Offer, offerOf } from "./offer.ts";

/** One version of a resource. */
export interface ResourceVersion {
  readonly type: CoreType;
  readonly name: string;
  /** "" for a resource that has no binary form. */
  readonly version: string;
}

/** A resource that is not in force, in that version of it: another version of the name is tried again. */
export interface RefusedResource extends ResourceVersion {
  /** Envoy's own, or the agent's for what it cannot send. */
  readonly words: string;
}

/** An answer that Envoy refuses. */
export interface Refusal {
  readonly type: CoreType;
  /** What was in the answer. */
  readonly answered: readonly Pick<LocalResource, "name" | "version">[];
  /** What Envoy's words are about; undefined where they name nothing of the answer. */
  readonly named: readonly string[] | undefined;
  readonly words: string;
}

/** Which resources Envoy refuses, and the search for those that it did not name: by halves, one group after the other. */
export interface RefusalSearch {
  readonly refused: readonly RefusedResource[];
  /** Each group has a resource that Envoy refuses. */
  readonly groups: readonly (readonly ResourceVersion[])[];
  /** Whether the first group is part of the offer, or will be in one of its stages. */
  readonly isTrying: boolean;
}

export const nothingRefused: RefusalSearch = { refused: [], groups: [], isTrying: false };

/** Whether a version of a resource is left out of the offer. */
export function isLeftOut({ refused, groups, isTrying }: RefusalSearch, of: ResourceVersion): boolean {
  const isIt = (one: ResourceVersion) => one.type === of.type && one.name === of.name && one.version === of.version;
  return refused.some(isIt) || groups.slice(isTrying ? 1 : 0).some((group) => group.some(isIt));
}

/** @param before what takes the place of a resource that is left out; undefined: nothing does */
export function withoutRefused(
  offer: Offer,
  search: RefusalSearch,
  before: (type: CoreType, name: string) => LocalResource | undefined,
): Offer {
  const all = [...search.refused, ...search.groups.flat()];
  if (all.length === 0) return offer;
  const types = new Set(all.map(({ type }) => type));
  return offerOf((type) => {
    if (!types.has(type)) return offer[type];
    const resources = new Map(offer[type]);
    for (const name of new Set(all.filter((one) => one.type === type).map(({ name }) => name))) {
      const version = offer[type].get(name)?.version ?? "";
      // An empty resource may replace one that has no binary form.
      if (!isLeftOut(search, { type, name, version: "" }) && !isLeftOut(search, { type, name, version })) continue;
      const instead = before(type, name);
      if (instead === undefined) resources.delete(name);
      else resources.set(name, instead);
    }
    return resources;
  });
}

/** The first of the last versions of a resource that is not left out; else an empty resource where Envoy waits for one. */
export function lastAllowed(
  search: RefusalSearch,
  { type, name }: Pick<ResourceVersion, "type" | "name">,
  last: readonly (LocalResource | undefined)[],
): LocalResource | undefined {
  for (const one of last) if (one !== undefined && !isLeftOut(search, { type, name, version: one.version })) return one;
  return type === "endpoints" || type === "routes" ? emptyResource({ type, name }) : undefined;
}

/** Versions that are not wanted any more are forgotten; those that cannot be sent are refused. */
export function afterWanted(
  { refused, groups, isTrying }: RefusalSearch,
  wanted: Offer,
  unwritable: readonly Unwritable[],
): RefusalSearch {
  const isWanted = ({ type, name, version }: ResourceVersion) => wanted[type].get(name)?.version === version;
  const left = groups.map((group) => group.filter(isWanted));
  const words = (problem: string) => `the agent cannot send it: ${problem}`;
  return {
    refused: [
      ...refused.filter(isWanted),
      ...unwritable.map(({ type, name, problem }) => ({ type, name, version: "", words: words(problem) })),
    ],
    groups: left.filter((group) => group.length > 0),
    isTrying: isTrying && left[0]?.length !== 0,
  };
}

/** Envoy has accepted all that is offered, the first group with it. */
export const afterGroupAccepted = (search: RefusalSearch): RefusalSearch => ({
  ...search,
  groups: search.groups.slice(1),
  isTrying: false,
});

/**
 * @param suspects what of the answer is still offered: versions that Envoy did not have, if there are any
 * @returns a search in which the resources that Envoy names are refused, and the others are divided into two groups
 */
export function afterRefusal(
  search: RefusalSearch,
  { type, answered, named, words }: Refusal,
  suspects: readonly ResourceVersion[],
): RefusalSearch {
  const isExact = named !== undefined || answered.length === 1;
  const culprits = isExact ? suspects.filter(({ name }) => named?.includes(name) ?? true) : [];
  // Of clusters and listeners Envoy names all that it refuses; of others it may not have read what follows the first.
  const isComplete = isExact && (type === "clusters" || type === "listeners");
  const unsure = isComplete ? [] : suspects.filter((one) => !culprits.includes(one));
  const half = Math.ceil(unsure.length / 2);
  const others = search.isTrying ? search.groups.slice(1) : search.groups;
  return {
    refused: [...search.refused, ...culprits.map((one) => ({ ...one, words: wordsAbout(one.name, words) }))],
    groups: [unsure.slice(0, half), unsure.slice(half), ...others].filter((group) => group.length > 0),
    isTrying: false,
  };
}

/** What Envoy says of one of several resources. Notes about its own way of printing are left out. */
function wordsAbout(name: string, words: string): string {
  const from = words.indexOf(` ${name}: `);
  return words
    .slice(from + 1)
    .replace(/goo\.gle\/debug\w*\s*/g, "")
    .trim();
}
