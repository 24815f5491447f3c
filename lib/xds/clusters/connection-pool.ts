import type { CircuitBreakers_ThresholdsJson } from "../../../gen/envoy/config/cluster/v3/circuit_breaker_pb.ts";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ConnectionPoolSettings, RetryBudget, TcpKeepalive } from "../../config/kinds/destination-rule.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";

const unlimited = 4294967295;

/** A count that is stated; zero and absent are the same in Istio's API. */
function stated(count: number | undefined): number {
  return count === undefined || count <= 0 ? unlimited : count;
}

/**
 * The one threshold, of default priority, that every cluster with a policy has: Envoy's own limits (1024, 3 retries)
 * are lifted unless a rule sets others.
 *
 * @see docs/how-istio-does-it/clusters.md#connection-pool
 */
export function circuitBreakers(
  pool: ConnectionPoolSettings | undefined,
  retryBudget: RetryBudget | undefined,
): { readonly thresholds: CircuitBreakers_ThresholdsJson[] } {
  return pool === undefined && retryBudget === undefined ? unlimitedBreakers : breakers(pool, retryBudget);
}

function breakers(
  pool: ConnectionPoolSettings | undefined,
  retryBudget: RetryBudget | undefined,
): { readonly thresholds: CircuitBreakers_ThresholdsJson[] } {
  return {
    thresholds: [
      {
        maxConnections: stated(pool?.tcp?.maxConnections),
        maxPendingRequests: stated(pool?.http?.http1MaxPendingRequests),
        maxRequests: stated(pool?.http?.http2MaxRequests),
        maxRetries: stated(pool?.http?.maxRetries),
        ...(retryBudget === undefined ? {} : { retryBudget: retryBudgetJson(retryBudget) }),
      },
    ],
  };
}

/** Most clusters have these. */
const unlimitedBreakers = breakers(undefined, undefined);

function retryBudgetJson(budget: RetryBudget): NonNullable<CircuitBreakers_ThresholdsJson["retryBudget"]> {
  const percent = budget.percent ?? 20;
  const least = budget.minRetryConcurrency ?? 0;
  return {
    budgetPercent: percent === 0 ? {} : { value: percent },
    minRetryConcurrency: least === 0 ? 3 : least,
    ...(budget.budgetInterval === undefined ? {} : { budgetInterval: budget.budgetInterval }),
  };
}

/** Seconds of a canonical duration text, without its fraction. */
function wholeSeconds(duration: string): number {
  return Math.trunc(Number(duration.slice(0, -1)));
}

/**
 * TCP keep-alive of the mesh with a rule's over it, attribute by attribute. An empty message still switches it on, with
 * the operating system's times.
 *
 * @returns undefined where neither says anything
 */
export function connectionOptions(
  mesh: MeshConfig,
  rule: TcpKeepalive | undefined,
): Pick<ClusterJson, "upstreamConnectionOptions"> | undefined {
  if (mesh.tcpKeepalive === undefined && rule === undefined) return undefined;
  const merged = { ...mesh.tcpKeepalive, ...rule };
  const probes = rule?.probes || (mesh.tcpKeepalive?.probes ?? 0);
  return {
    upstreamConnectionOptions: {
      tcpKeepalive: {
        ...(probes === 0 ? {} : { keepaliveProbes: probes }),
        ...(merged.time === undefined ? {} : { keepaliveTime: wholeSeconds(merged.time) }),
        ...(merged.interval === undefined ? {} : { keepaliveInterval: wholeSeconds(merged.interval) }),
      },
    },
  };
}
