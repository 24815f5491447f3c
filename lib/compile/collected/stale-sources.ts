import { type Diagnostic, fileOrigin } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readShardState, type ShardState } from "./shard-state.ts";

/** A source that is older than this, in milliseconds, is told of: its collector gives a sign of life six times as often. */
const staleAfterMs = 60_000;

/**
 * Why a source may not be as its upstream is: its collector's own words, that it gives no sign of life, or that a clock is wrong.
 *
 * @param nowMs milliseconds since the epoch
 * @returns undefined for a source that is up to date
 */
export function whyBehind({ asOfMs, failure }: ShardState, nowMs: number): string | undefined {
  if (failure !== "") return failure;
  if (asOfMs - nowMs > staleAfterMs)
    return "its age is not known: the clock of its collector, or of this server, is wrong";
  return nowMs - asOfMs > staleAfterMs ? noSignOfLife : undefined;
}

const noSignOfLife = "its collector gives no sign of life";

/** Seconds since the source was known to be as its origin is; infinite where that is not known. @param nowMs since the epoch */
export function ageSeconds({ asOfMs }: Pick<ShardState, "asOfMs">, nowMs: number): number {
  const isKnown = asOfMs > 0 && asOfMs - nowMs <= staleAfterMs;
  return isKnown ? (nowMs - asOfMs) / 1000 : Number.POSITIVE_INFINITY;
}

/**
 * Says which sources were not known for a while to be as their origins are. What they hold goes on being compiled.
 *
 * @param nowMs milliseconds since the epoch
 * @returns `registry-stale`
 */
export async function staleSources(
  store: ObjectStore,
  names: readonly string[],
  nowMs: number,
): Promise<readonly Diagnostic[]> {
  const found = await Promise.all(names.map(async (name) => ({ name, state: await readShardState(store, name) })));
  return found.flatMap(({ name, state }) => {
    if (state === undefined) return [];
    const aheadMs = state.asOfMs - nowMs;
    if (aheadMs > staleAfterMs) return [clockAhead(name, state.asOfMs, aheadMs)];
    if (-aheadMs <= staleAfterMs) return [];
    return [staleSource(name, state.asOfMs, state.failure)];
  });
}

/** Of a source whose sign of life lies in the future nobody knows how old it is. */
function clockAhead(name: string, asOfMs: number, aheadMs: number): Diagnostic {
  return {
    code: "registry-stale",
    severity: "warning",
    origin: fileOrigin(name),
    path: [],
    message: `was last as its origin is at ${new Date(asOfMs).toISOString()}, ${Math.round(aheadMs / 1000)} s from now, so that its age is not known`,
    hint: "set the clock of its collector, or of the compile function: one of them is wrong",
  };
}

function staleSource(name: string, asOfMs: number, failure: string): Diagnostic {
  const why = failure === "" ? noSignOfLife : failure;
  return {
    code: "registry-stale",
    severity: "warning",
    origin: fileOrigin(name),
    path: [],
    message: `${asOfMs > 0 ? `was last as its origin is at ${new Date(asOfMs).toISOString()}` : "was never read completely"}, and its last content is still used: ${why}`,
    hint: "look after its collector, and whether the origin is up and its credentials are valid",
  };
}
