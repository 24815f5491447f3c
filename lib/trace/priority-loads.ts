/** How many endpoints of a priority there are. */
export interface PriorityCounts {
  readonly healthy: number;
  readonly degraded: number;
  readonly all: number;
}

/** What part of all requests a priority gets, for its healthy and for its degraded endpoints, from 0 to 1. */
export interface PriorityLoad {
  readonly healthy: number;
  readonly degraded: number;
  /** Whether its endpoints get requests whatever their health is. */
  readonly isPanic: boolean;
}

/**
 * Divides requests among priorities: each takes as much as its share of healthy endpoints, times the factor, lets it, and leaves the rest
 * to the next; then come the degraded ones. Where that does not add up to everything, priorities below the threshold are in panic.
 *
 * @param panicThreshold from 0 to 100
 * @see envoy 1.40.0 source/common/upstream/load_balancer_impl.cc, recalculatePerPriorityState
 */
export function priorityLoads(
  counts: readonly PriorityCounts[],
  factor: number,
  panicThreshold: number,
): readonly PriorityLoad[] {
  const part = (some: number, all: number) => (all === 0 ? 0 : Math.min(100, Math.floor((100 * factor * some) / all)));
  const healthy = counts.map((one) => part(one.healthy, one.all));
  const degraded = counts.map((one) => part(one.degraded, one.all));
  const total = Math.min(100, sum(healthy) + sum(degraded));
  const isBelow = ({ healthy: some, degraded: more, all }: PriorityCounts) =>
    panicThreshold > 0 && (all === 0 ? true : (100 * (some + more)) / all < panicThreshold);
  const panics = counts.map((one) => total < 100 && isBelow(one));
  if (total === 0 || (panics.length > 0 && panics.every((isPanic) => isPanic)))
    return inTotalPanic(counts, panicThreshold);
  let left = 100;
  const take = (available: number) => {
    const taken = Math.min(left, Math.floor((available * 100) / total));
    left -= taken;
    return taken;
  };
  const healthyLoads = healthy.map(take);
  const degradedLoads = degraded.map(take);
  // What is left by rounding goes to the first that has any.
  const first = healthyLoads.findIndex((load) => load > 0);
  if (first !== -1) healthyLoads[first] = (healthyLoads[first] ?? 0) + left;
  return counts.map((_, at) => ({
    healthy: (healthyLoads[at] ?? 0) / 100,
    degraded: (degradedLoads[at] ?? 0) / 100,
    isPanic: panics[at] === true,
  }));
}

/** Where every priority is in panic, each gets what its number of endpoints is of all. */
function inTotalPanic(counts: readonly PriorityCounts[], panicThreshold: number): readonly PriorityLoad[] {
  const all = sum(counts.map((one) => one.all));
  const isPanic = panicThreshold > 0;
  return counts.map((one) => ({ healthy: all === 0 || !isPanic ? 0 : one.all / all, degraded: 0, isPanic }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
