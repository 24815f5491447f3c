import type { CoreType } from "../../snapshot/resource-type.ts";
import { emptyResource, type Unwritable } from "./local-resources.ts";
import { isEmpty, isSameOffer, type LocalResource, type Offer, offerOf } from "./offer.ts";
import { nextStage, type StageFacts } from "./stages.ts";

/** A resource that is not in force, in that version of it. */
export interface RefusedResource {
  readonly type: CoreType;
  readonly name: string;
  /** What is refused: another version of the name is tried again. "" for one that has no binary form. */
  readonly version: string;
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

/** Further facts about Envoy. */
export interface RolloutFacts extends StageFacts {
  /** Whether an Envoy has listeners that take traffic, or may have: until then it may be told everything at once. */
  readonly isServing: boolean;
  /** Whether what is wanted is left out, since Envoys have ended over it. */
  readonly isBarred: boolean;
}

/**
 * Rolls out wanted resources to Envoy in stages, so that no route refers to a missing cluster. Resources that Envoy rejects keep their
 * earlier version. A state machine: none of its functions waits.
 */
export interface EnvoyRollout {
  /** What Envoy is to have now; undefined before there is anything. */
  offered(): Offer | undefined;
  /** What an Envoy has taken last. */
  taken(): Offer;
  /** Whether an Envoy that runs has taken all that is offered. */
  isSettled(): boolean;
  /** Whether that is all that is wanted but for what is refused. */
  isDone(): boolean;
  refused(): readonly RefusedResource[];
  want(offer: Offer, unwritable: readonly Unwritable[]): void;
  /** Envoy says which versions of a type it has from before this stream. */
  knows(type: CoreType, versions: ReadonlyMap<string, string>): void;
  /** Envoy has taken some resources of what it was offered. */
  accept(type: CoreType, resources: readonly LocalResource[]): void;
  /** Envoy has taken everything that is offered. */
  settle(): void;
  refuse(refusal: Refusal): void;
  /** No Envoy has anything any more. @returns whether the last one ended before it had taken what is new */
  end(): boolean;
  /** Another Envoy, or the same on another stream: what it has taken it says. */
  connect(): void;
  /** Goes on to the next stage where there is one. @returns whether something else is offered now */
  advance(facts: RolloutFacts): boolean;
}

type Suspects = readonly Pick<RefusedResource, "type" | "name" | "version">[];

/** @param kept what an Envoy had taken when the agent began */
export function createEnvoyRollout(kept: Offer): EnvoyRollout {
  let wanted: Offer | undefined;
  let offered = isEmpty(kept) ? undefined : kept;
  let isSettled = false;
  let isConnected = false;
  let refused: readonly RefusedResource[] = [];
  /** Of each group some resource is refused: they are tried one group after the other, by halves until it is found. */
  let groups: readonly Suspects[] = [];
  /** Whether the first group is part of the offer, or on the way into it. */
  let isTrying = false;
  /** What the offer is on the way to, before refused resources are left out. */
  let aim = kept;
  /** By type and name, what this Envoy has taken last; of what it has from before, it says only the version. */
  const has = new Map<string, Pick<LocalResource, "version"> & Partial<LocalResource>>();
  const keyOf = (type: CoreType, name: string) => `${type} ${name}`;

  /** Whether a resource is left out of the offer, in that version. */
  function isOut(type: CoreType, name: string, version: string): boolean {
    const isIt = (one: Suspects[number]) => one.type === type && one.name === name && one.version === version;
    return refused.some(isIt) || groups.slice(isTrying ? 1 : 0).some((group) => group.some(isIt));
  }

  /** What is offered in the place of what is left out: what was taken last, or nothing. */
  function before(type: CoreType, name: string): LocalResource | undefined {
    const found = has.get(keyOf(type, name));
    for (const last of [isKnown(found) ? found : undefined, kept[type].get(name)])
      if (last !== undefined && !isOut(type, name, last.version)) return last;
    return type === "endpoints" || type === "routes" ? emptyResource({ type, name }) : undefined;
  }

  function allowed(offer: Offer): Offer {
    const out = new Set([...refused, ...groups.flat()].map(({ type }) => type));
    if (out.size === 0) return offer;
    return offerOf((type) => {
      if (!out.has(type)) return offer[type];
      const resources = new Map(offer[type]);
      const names = [...refused, ...groups.flat()].filter((one) => one.type === type).map(({ name }) => name);
      for (const name of new Set(names)) {
        const version = offer[type].get(name)?.version ?? "";
        // An empty resource may stand in the place of one that has no binary form.
        if (!isOut(type, name, "") && !isOut(type, name, version)) continue;
        const instead = before(type, name);
        if (instead === undefined) resources.delete(name);
        else resources.set(name, instead);
      }
      return resources;
    });
  }

  return {
    offered: () => offered,
    taken: () => kept,
    isSettled: () => isSettled,
    isDone: () =>
      isSettled &&
      groups.length === 0 &&
      wanted !== undefined &&
      offered !== undefined &&
      isSameOffer(offered, allowed(wanted)),
    refused: () => refused,
    want(offer, unwritable) {
      wanted = offer;
      // What is wanted in another version, or not at all, is not spoken of any more.
      const isWanted = ({ type, name, version }: Suspects[number]) => offer[type].get(name)?.version === version;
      const left = groups.map((group) => group.filter(isWanted));
      if (isTrying && left[0]?.length === 0) isTrying = false;
      groups = left.filter((group) => group.length > 0);
      const words = (problem: string) => `the agent cannot send it: ${problem}`;
      refused = [
        ...refused.filter(isWanted),
        ...unwritable.map(({ type, name, problem }) => ({ type, name, version: "", words: words(problem) })),
      ];
    },
    knows(type, versions) {
      for (const [name, version] of versions) has.set(keyOf(type, name), { version });
    },
    accept(type, resources) {
      for (const resource of resources) has.set(keyOf(type, resource.name), resource);
    },
    settle() {
      if (offered === undefined) return;
      kept = offered;
      isSettled = true;
      if (!isTrying || !isSameOffer(offered, allowed(aim))) return;
      groups = groups.slice(1);
      isTrying = false;
    },
    refuse({ type, answered, named, words }) {
      isSettled = false;
      // What is offered in another version by now is not spoken of any more.
      const current = answered
        .filter(({ name, version }) => offered?.[type].get(name)?.version === version && !isOut(type, name, version))
        .map(({ name, version }) => ({ type, name, version }));
      const fresh = current.filter(({ name, version }) => has.get(keyOf(type, name))?.version !== version);
      const suspects = fresh.length > 0 ? fresh : current;
      const isExact = named !== undefined || answered.length === 1;
      const culprits = isExact ? suspects.filter(({ name }) => named?.includes(name) ?? true) : [];
      refused = [...refused, ...culprits.map((one) => ({ ...one, words: wordsAbout(one.name, words) }))];
      // Of clusters and listeners Envoy names all that it refuses; of others it may not have looked at what stands behind the first.
      const isWhole = isExact && (type === "clusters" || type === "listeners");
      const unsure = isWhole ? [] : suspects.filter((one) => !culprits.includes(one));
      if (isTrying) groups = groups.slice(1);
      isTrying = false;
      const half = Math.ceil(unsure.length / 2);
      groups = [unsure.slice(0, half), unsure.slice(half), ...groups].filter((group) => group.length > 0);
    },
    end() {
      const isOver = isConnected && !isSettled && offered !== undefined && !isSameOffer(offered, kept);
      isConnected = false;
      isSettled = false;
      has.clear();
      groups = [];
      isTrying = false;
      if (isOver && !isEmpty(kept)) offered = kept;
      return isOver && !isEmpty(kept);
    },
    connect() {
      isConnected = true;
      isSettled = false;
      has.clear();
    },
    advance(facts) {
      aim = facts.isBarred || wanted === undefined ? kept : wanted;
      const isReached = isSettled && offered !== undefined && isSameOffer(offered, allowed(aim));
      if (isReached && groups.length > 0) isTrying = true;
      const target = allowed(aim);
      const isFirst = offered === undefined || isEmpty(offered);
      const next =
        isFirst || !facts.isServing || offered === undefined
          ? target
          : nextStage(allowed(offered), target, { ...facts, isSettled });
      if (isEmpty(next) || (offered !== undefined && isSameOffer(offered, next))) return false;
      offered = next;
      isSettled = false;
      return true;
    },
  };
}

const isKnown = (one: Partial<LocalResource> | undefined): one is LocalResource => one?.binary !== undefined;

/** What Envoy says of one of several. Notes about its own way of printing are left out. */
function wordsAbout(name: string, words: string): string {
  const from = words.indexOf(` ${name}: `);
  return words
    .slice(from + 1)
    .replace(/goo\.gle\/debug\w*\s*/g, "")
    .trim();
}
