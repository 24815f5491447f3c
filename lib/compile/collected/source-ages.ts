import type { ObjectStore } from "../../storage/object-store.ts";
import { sourceNames } from "../shards/source-names.ts";
import { readShardState, type ShardState } from "./shard-state.ts";
import { ageSeconds, whyBehind } from "./stale-sources.ts";

export interface CollectedState {
  readonly name: string;
  readonly state: ShardState;
}

/** The sources of a store that collectors fill, by name, and until when each is known to be as its origin is. */
export async function collectedStates(store: ObjectStore): Promise<readonly CollectedState[]> {
  const names = await sourceNames(store);
  const states = await Promise.all(names.map(async (name) => ({ name, state: await readShardState(store, name) })));
  return states.flatMap(({ name, state }) => (state === undefined ? [] : [{ name, state }]));
}

/** Those that may not be as their upstreams are, as servers report it; without `asOf` one that was never read completely. @param nowMs milliseconds since the epoch */
export async function behindSources(
  store: ObjectStore,
  nowMs: number,
): Promise<readonly { readonly name: string; readonly asOf?: string; readonly failure: string }[]> {
  return (await collectedStates(store)).flatMap(({ name, state }) => {
    const failure = whyBehind(state, nowMs);
    return failure === undefined
      ? []
      : [{ name, ...(state.asOfMs > 0 ? { asOf: new Date(state.asOfMs).toISOString() } : {}), failure }];
  });
}

/**
 * Seconds since each collected source was known to be as its origin is, by name; infinite where that is not known. Who serves what is compiled from it tells that too: a
 * collector that has died tells nothing.
 */
export async function sourceAges(store: ObjectStore, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const states = await collectedStates(store);
  return new Map(states.map(({ name, state }) => [name, ageSeconds(state, nowMs)]));
}
