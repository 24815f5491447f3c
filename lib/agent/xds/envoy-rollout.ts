import type { CoreType } from "../../snapshot/resource-type.ts";
import type { Unwritable } from "./local-resources.ts";
import { isEmpty, isSameOffer, type LocalResource, type Offer } from "./offer.ts";
import {
  afterGroupAccepted,
  afterRefusal,
  afterWanted,
  isLeftOut,
  lastAllowed,
  nothingRefused,
  type Refusal,
  type RefusedResource,
  withoutRefused,
} from "./refusal-search.ts";
import { nextStage, type StageFacts } from "./stages.ts";

/** Further facts about Envoy. */
export interface RolloutFacts extends StageFacts {
  /** Whether an Envoy has listeners that take traffic, or may have: until then it may be offered everything at once. */
  readonly isServing: boolean;
  /** Whether the wanted offer is left out, since Envoys have ended over it. */
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
  /** Envoy reports which versions of a type it has from before this stream. */
  hasFromBefore(type: CoreType, versions: ReadonlyMap<string, string>): void;
  /** Envoy has taken some resources of what it was offered. */
  accept(type: CoreType, resources: readonly LocalResource[]): void;
  /** Envoy has taken everything that is offered. */
  settle(): void;
  refuse(refusal: Refusal): void;
  /** No Envoy has anything any more. @returns whether the last one ended before it had taken what is new */
  end(): boolean;
  /** Another Envoy, or the same on another stream: it reports what it has. */
  connect(): void;
  /** Goes on to the next stage where there is one. @returns whether something else is offered now */
  advance(facts: RolloutFacts): boolean;
}

/** What Envoy has of a resource; only the version of what it has from before the stream. */
type Accepted = Pick<LocalResource, "version"> & Partial<LocalResource>;

/** @param taken what an Envoy had taken when the agent began */
export function createEnvoyRollout(taken: Offer): EnvoyRollout {
  let wanted: Offer | undefined;
  let offered = isEmpty(taken) ? undefined : taken;
  let isSettled = false;
  let isConnected = false;
  let search = nothingRefused;
  /** What the stages lead to, before refused resources are left out. */
  let target = taken;
  /** By type and name, what this Envoy has accepted last. */
  const accepted = new Map<string, Accepted>();
  const keyOf = (type: CoreType, name: string) => `${type} ${name}`;

  const allowed = (offer: Offer): Offer =>
    withoutRefused(offer, search, (type, name) => {
      const last = accepted.get(keyOf(type, name));
      return lastAllowed(search, { type, name }, [isWhole(last) ? last : undefined, taken[type].get(name)]);
    });

  return {
    offered: () => offered,
    taken: () => taken,
    isSettled: () => isSettled,
    isDone: () =>
      isSettled &&
      search.groups.length === 0 &&
      wanted !== undefined &&
      offered !== undefined &&
      isSameOffer(offered, allowed(wanted)),
    refused: () => search.refused,
    want(offer, unwritable) {
      wanted = offer;
      search = afterWanted(search, offer, unwritable);
    },
    hasFromBefore(type, versions) {
      for (const [name, version] of versions) accepted.set(keyOf(type, name), { version });
    },
    accept(type, resources) {
      for (const resource of resources) accepted.set(keyOf(type, resource.name), resource);
    },
    settle() {
      if (offered === undefined) return;
      taken = offered;
      isSettled = true;
      if (search.isTrying && isSameOffer(offered, allowed(target))) search = afterGroupAccepted(search);
    },
    refuse(refusal) {
      isSettled = false;
      const { type, answered } = refusal;
      // A refusal of a version that is no longer offered changes nothing.
      const current = answered
        .filter(({ name, version }) => offered?.[type].get(name)?.version === version)
        .map(({ name, version }) => ({ type, name, version }))
        .filter((one) => !isLeftOut(search, one));
      const isNew = current.filter(({ name, version }) => accepted.get(keyOf(type, name))?.version !== version);
      search = afterRefusal(search, refusal, isNew.length > 0 ? isNew : current);
    },
    end() {
      const isOver = isConnected && !isSettled && offered !== undefined && !isSameOffer(offered, taken);
      isConnected = false;
      isSettled = false;
      accepted.clear();
      search = { ...search, groups: [], isTrying: false };
      if (isOver && !isEmpty(taken)) offered = taken;
      return isOver && !isEmpty(taken);
    },
    connect() {
      isConnected = true;
      isSettled = false;
      accepted.clear();
    },
    advance(facts) {
      target = facts.isBarred || wanted === undefined ? taken : wanted;
      const isReached = isSettled && offered !== undefined && isSameOffer(offered, allowed(target));
      if (isReached && search.groups.length > 0) search = { ...search, isTrying: true };
      const goal = allowed(target);
      const isFirst = offered === undefined || isEmpty(offered);
      const next =
        isFirst || !facts.isServing || offered === undefined
          ? goal
          : nextStage(allowed(offered), goal, { ...facts, isSettled });
      if (isEmpty(next) || (offered !== undefined && isSameOffer(offered, next))) return false;
      offered = next;
      isSettled = false;
      return true;
    },
  };
}

const isWhole = (one: Accepted | undefined): one is LocalResource => one?.binary !== undefined;
