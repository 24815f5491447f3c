import { durationMs } from "../../base/duration.ts";
import type { SimpleCircuitBreakerPolicy } from "../../config/kinds/legacy/destination-policy.ts";
import { withDestinationRule } from "../compat/destination-rule.ts";
import { destinationRuleFor, fullName } from "../compat/v1alpha3.ts";
import { destinationPolicyFor } from "../config-store.ts";
import type { CircuitBreakers, Cluster, ClusterTls, OutlierDetection } from "../documents.ts";
import type { LegacyMesh } from "../legacy-world.ts";
import { effectivePolicy, mutualTlsOf, workloadCertificateFiles } from "../listeners/authentication.ts";
import type { RunsHere } from "../runs-here.ts";
import type { BuiltCluster, PolicyTarget } from "./clusters.ts";

/**
 * The cluster as it is served: with mutual TLS where the service asks for it, and with its DestinationPolicy.
 * @see docs/how-istio-does-it/legacy-v1.md#clusters
 * @see docs/how-istio-does-it/legacy-v1.md#tls-and-authentication
 */
export function withPolicy(
  { cluster, policyTarget }: BuiltCluster,
  here: RunsHere,
  world: LegacyMesh,
  domain: string,
): Cluster {
  if (policyTarget === undefined) return cluster;
  const { lb_type, http2_settings, ssl_context, hosts, ...head } = cluster;
  const originalDestination = cluster.type === "original_dst";
  const policy = destinationPolicyFor(world.configs, policyTarget.hostname, policyTarget.labels, here);
  const breaker = policy?.circuitBreaker?.simpleCb;
  if (policy === undefined && world.v1alpha3 !== undefined) return ruled(cluster, policyTarget, world, domain);
  const perConnection = breaker?.httpMaxRequestsPerConnection ?? 0;
  const tls = (originalDestination ? undefined : mutualTls(policyTarget, world)) ?? ssl_context;
  return {
    ...head,
    lb_type: originalDestination ? lb_type : (balancers.get(policy?.loadBalancing?.name ?? "") ?? lb_type),
    ...(perConnection === 0 ? {} : { max_requests_per_connection: perConnection }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(tls === undefined ? {} : { ssl_context: tls }),
    ...(http2_settings === undefined ? {} : { http2_settings }),
    ...(breaker === undefined
      ? {}
      : { circuit_breakers: { default: limits(breaker) }, outlier_detection: ejection(breaker) }),
  };
}

/** Release 0.7: where no policy applies, a DestinationRule may. */
function ruled(cluster: Cluster, target: PolicyTarget, world: LegacyMesh, domain: string): Cluster {
  const rule = destinationRuleFor(world.v1alpha3, fullName(target.hostname, domain), domain);
  const { hosts, ssl_context, http2_settings, ...head } = cluster;
  const tls = (cluster.type === "original_dst" ? undefined : mutualTls(target, world)) ?? ssl_context;
  const { circuit_breakers, outlier_detection, ...members } = withDestinationRule(cluster, rule, target.labels);
  return {
    ...head,
    ...members,
    ...(hosts === undefined ? {} : { hosts }),
    ...(tls === undefined ? {} : { ssl_context: tls }),
    ...(http2_settings === undefined ? {} : { http2_settings }),
    ...(circuit_breakers === undefined ? {} : { circuit_breakers }),
    ...(outlier_detection === undefined ? {} : { outlier_detection }),
  };
}

const balancers: ReadonlyMap<string, Cluster["lb_type"]> = new Map([
  ["ROUND_ROBIN", "round_robin"],
  ["LEAST_CONN", "least_request"],
  ["RANDOM", "random"],
]);

/** The service's identities are checked, whoever they are: none at all is written as an empty list. */
function mutualTls({ hostname, port }: PolicyTarget, world: LegacyMesh): ClusterTls | undefined {
  if (port === undefined || world.mesh.mtlsExcludedServices.includes(hostname)) return undefined;
  if (mutualTlsOf(effectivePolicy(world, hostname, port)) === undefined) return undefined;
  const service = world.services.find((candidate) => candidate.hostname === hostname);
  return { ...workloadCertificateFiles, verify_subject_alt_name: service?.serviceAccounts ?? [] };
}

function limits(breaker: SimpleCircuitBreakerPolicy): CircuitBreakers {
  return {
    ...positive("max_connections", breaker.maxConnections),
    ...positive("max_pending_requests", breaker.httpMaxPendingRequests),
    ...positive("max_requests", breaker.httpMaxRequests),
    ...positive("max_retries", breaker.httpMaxRetries),
  };
}

/** Windows below a second are lost, as they were in the release. */
function ejection(breaker: SimpleCircuitBreakerPolicy): OutlierDetection {
  const percent = breaker.httpMaxEjectionPercent ?? 0;
  return {
    ...positive("consecutive_5xx", breaker.httpConsecutiveErrors),
    ...positive("interval_ms", fromOneSecond(breaker.httpDetectionInterval)),
    ...positive("base_ejection_time_ms", fromOneSecond(breaker.sleepWindow)),
    max_ejection_percent: percent > 0 ? percent : 10,
  };
}

function fromOneSecond(duration: string | undefined): number {
  const ms = duration === undefined ? 0 : durationMs(duration);
  return ms >= 1000 ? Math.trunc(ms) : 0;
}

function positive<Name extends string>(name: Name, value: number | undefined): { readonly [N in Name]?: number } {
  const member: { [N in Name]?: number } = {};
  if (value !== undefined && value > 0) member[name] = value;
  return member;
}
