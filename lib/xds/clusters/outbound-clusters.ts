import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import type { Subset } from "../../config/kinds/destination-rule.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import { hasPersistentSession } from "../../registry/labels.ts";
import type { Service } from "../../registry/service.ts";
import { loadAssignment } from "../endpoints/load-assignment.ts";
import { createMemberPool } from "../endpoints/locality-group.ts";
import {
  localityRouting,
  sendsUnhealthyEndpoints,
  weighsLocalities,
  zoneAwareConfig,
} from "../endpoints/locality-setting.ts";
import { clusterExchange } from "../istio-proxy/metadata-filters.ts";
import { altStatName, outboundClusterName, sniDnatClusterName, statName } from "../names.ts";
import type { ClusterClass } from "./cluster-class.ts";
import { type ClusterDraft, keepsOriginalDestination, type OutboundService } from "./cluster-draft.ts";
import { circuitBreakers, connectionOptions } from "./connection-pool.ts";
import {
  carriesHostName,
  type Discovery,
  discoveryOf,
  dnsFields,
  dynamicForwardProxy,
  edsFields,
} from "./discovery.ts";
import { httpOptions, type UpstreamHttp, upstreamHttp } from "./http-options.ts";
import { loadBalancer } from "./load-balancer.ts";
import { clusterMetadata, originatesTls } from "./metadata.ts";
import { outlierDetection, panicThreshold } from "./outlier-detection.ts";
import { effectivePolicy } from "./traffic-policy.ts";
import { secureUpstream, type UpstreamSecurity } from "./upstream-security.ts";

/**
 * All clusters of one service: for each port the service's own, then its subsets.
 * @see docs/how-istio-does-it/clusters.md#which-clusters
 */
export function outboundClusters(source: OutboundService, proxies: ClusterClass): readonly ClusterJson[] {
  const discovery = source.mode === "sniDnat" ? passedOn(source.service) : discoveryOf(source.service, source.seen);
  if (discovery === undefined) return [];
  return source.service.ports.flatMap((port, at) => {
    if (port.protocol === "UDP") return [];
    if (discovery === "dynamic" && !carriesHostName(port.protocol)) return [];
    return clustersOfPort(source, { port, mtlsMode: source.mtlsModes[at] }, discovery, proxies);
  });
}

/** An SNI-routing gateway resolves no requests: a wildcard that stands for any name has endpoints there, if only none. */
function passedOn(service: Service): Discovery | undefined {
  const discovery = discoveryOf(service, { proxyType: "router" });
  return discovery === "dynamic" ? "EDS" : discovery;
}

function clustersOfPort(
  { service, rule, accounts, mtlsModes, mode, seen }: OutboundService,
  { port, mtlsMode }: Pick<ClusterDraft, "port" | "mtlsMode">,
  discovery: Discovery,
  proxies: ClusterClass,
): readonly ClusterJson[] {
  const nameOf = mode === "sniDnat" ? sniDnatClusterName : outboundClusterName;
  const host = service.hostname;
  // Field by field: there is one for each cluster of a mesh, and copying objects of many forms is slow.
  const draft = (subset: Subset | undefined, found: Discovery): ClusterDraft => ({
    service,
    rule,
    accounts,
    mtlsModes,
    mode,
    seen,
    port,
    mtlsMode,
    name: nameOf(port.port, subset?.name ?? "", host),
    discovery: found,
    subset,
    policy: effectivePolicy(rule, subset?.name ?? "", port.port, proxies.mesh.defaultTrafficPolicy),
  });
  // Who answers for the host of a request is as little known as its addresses.
  const own = discovery === "dynamic" ? { ...draft(undefined, discovery), accounts: [] } : draft(undefined, discovery);
  const cluster = buildCluster(own, proxies);
  // A service whose name resolves to nothing known has no cluster, and then its subsets have none either.
  if (cluster === undefined) return [];
  if (service.resolution === "DynamicDNS" && host.startsWith("*")) return [cluster];
  // Subsets start from what the policy of the service made of its discovery.
  const inherited = keepsOriginalDestination(own) ? "ORIGINAL_DST" : discovery;
  const subsets = (rule?.config.spec.subsets ?? []).map((subset) =>
    buildCluster(draft(subset, asksForPassthrough(subset) ? "ORIGINAL_DST" : inherited), proxies),
  );
  return [cluster, ...subsets.filter((subset) => subset !== undefined)];
}

/** A subset that asks for the original destination itself, for all of its ports, is never looked up. */
function asksForPassthrough(subset: Subset): boolean {
  return subset.trafficPolicy?.loadBalancer?.simple === "PASSTHROUGH";
}

function buildCluster(draft: ClusterDraft, proxies: ClusterClass): ClusterJson | undefined {
  const { service, policy, port, rule } = draft;
  const { mesh } = proxies;
  const originalDestination = keepsOriginalDestination(draft);
  const found = discoveryJson(draft, proxies, originalDestination);
  if (found === undefined) return undefined;
  const http = upstreamHttp(draft.seen, {
    protocol: port.protocol,
    pool: policy?.connectionPool,
    ...(policy?.outlierDetection === undefined || !mesh.rules.countsStatedErrorCodes
      ? {}
      : { outliers: policy.outlierDetection }),
    preserveHeaderCase: proxies.preserveHeaderCase,
    upgradeBy: mesh,
  });
  const security =
    draft.mode === "sniDnat" ? { sockets: {}, upstream: undefined } : secureUpstream(draft, proxies, http);
  const dynamic = draft.discovery === "dynamic";
  const cluster: ClusterJson = {
    ...found,
    name: draft.name,
    altStatName: altStatNameOf(draft, mesh.outboundClusterStatName),
    connectTimeout: policy?.connectionPool?.tcp?.connectTimeout ?? mesh.connectTimeout,
    circuitBreakers: circuitBreakers(policy?.connectionPool, policy?.retryBudget),
  };
  if (proxies.build === "istio") Object.assign(cluster, clusterExchange(proxies.build));
  if (dynamic) {
    const unchecked = leavesNamesUnchecked(http, security.upstream);
    cluster.clusterType = dynamicForwardProxy(service.hostname, unchecked, { mesh, proxy: proxies });
  } else cluster.commonLbConfig = commonLbConfig(draft, proxies);
  const { transportSocket, transportSocketMatches } = security.sockets;
  if (transportSocket !== undefined) cluster.transportSocket = transportSocket;
  if (transportSocketMatches !== undefined) cluster.transportSocketMatches = transportSocketMatches;
  const metadata = clusterMetadata({
    services: dynamic ? [] : [service],
    rule,
    subset: draft.subset?.name ?? "",
    external: service.meshExternal && draft.subset === undefined,
    originatesTls: originatesTls(policy?.tls),
  });
  if (metadata !== undefined) cluster.metadata = metadata;
  return Object.assign(
    cluster,
    dynamic || originalDestination
      ? providedByCluster
      : loadBalancer(policy?.loadBalancer, byUtilization(draft) && hasLocalityWeights(draft, mesh)),
    connectionOptions(mesh, policy?.connectionPool?.tcp?.tcpKeepalive),
    httpOptions(http, security.upstream),
    outlierDetection(policy?.outlierDetection),
  );
}

const providedByCluster = { lbPolicy: "CLUSTER_PROVIDED" } as const;

function altStatNameOf(draft: ClusterDraft, pattern: string): string {
  // The pattern is for hosts that are known.
  if (pattern === "" || draft.discovery === "dynamic") return altStatName(draft.name);
  const { service, port } = draft;
  return altStatName(
    statName(pattern, {
      hostname: service.hostname,
      subset: draft.subset?.name ?? "",
      port: port.port,
      portName: port.name,
      targetPort: 0,
      service,
    }),
  );
}

/** Type and, where the cluster carries them, endpoints; undefined for a DNS cluster that has none. */
function discoveryJson(
  draft: ClusterDraft,
  proxies: ClusterClass,
  originalDestination: boolean,
): ClusterJson | undefined {
  const { discovery, service, port } = draft;
  const { mesh } = proxies;
  if (discovery === "dynamic") return {};
  if (discovery === "ORIGINAL_DST") {
    const override = service.attributes.passthroughTargetPorts?.get(port.port);
    return {
      type: "ORIGINAL_DST",
      ...(override === undefined ? {} : { originalDstLbConfig: { upstreamPortOverride: override } }),
    };
  }
  if (discovery === "EDS")
    return originalDestination ? { type: "ORIGINAL_DST" } : { type: "EDS", ...edsFields(draft.name) };
  const assignment = loadAssignment(
    {
      clusterName: draft.name,
      service,
      port,
      subset: draft.subset?.name ?? "",
      rule: draft.rule,
      policy: draft.policy,
      sniDnat: draft.mode === "sniDnat",
      dns: true,
    },
    draft.seen.endpointContext,
    createMemberPool(draft.seen.endpoints),
  );
  if (assignment.endpoints === undefined) return undefined;
  return {
    ...dnsFields(mesh, proxies.ipMode, service),
    ...(originalDestination
      ? { type: "ORIGINAL_DST" }
      : { type: resolver(discovery, assignment), loadAssignment: assignment }),
  };
}

/**
 * Envoy refuses LOGICAL_DNS for more than one name. Entries that come together at one host, or that select workloads, can
 * have more: then all names are resolved, where Istio would send what Envoy refuses.
 */
function resolver(
  discovery: "STRICT_DNS" | "LOGICAL_DNS",
  assignment: ClusterLoadAssignmentJson,
): "STRICT_DNS" | "LOGICAL_DNS" {
  const names = (assignment.endpoints ?? []).reduce((sum, group) => sum + (group.lbEndpoints?.length ?? 0), 0);
  return names === 1 && assignment.endpoints?.length === 1 ? discovery : "STRICT_DNS";
}

/** Such a balancer stands beside `commonLbConfig`, and brings the weights of localities itself. */
const byUtilization = ({ policy }: ClusterDraft): boolean => policy?.loadBalancer?.backendUtilization !== undefined;

const hasLocalityWeights = ({ service, policy }: ClusterDraft, mesh: MeshSettings): boolean =>
  weighsLocalities(localityRouting(service, policy, mesh));

/** The same object for all that say nothing. */
const plainLoadBalancing = {};

function commonLbConfig(draft: ClusterDraft, proxies: ClusterClass): NonNullable<ClusterJson["commonLbConfig"]> {
  const { service, policy } = draft;
  const panic = panicThreshold(policy?.outlierDetection, sendsUnhealthyEndpoints(service, policy, proxies.mesh));
  const weighs = !byUtilization(draft) && hasLocalityWeights(draft, proxies.mesh);
  const zones = zoneAwareConfig(localityRouting(service, policy, proxies.mesh));
  const persistent =
    draft.mode === "default" && draft.subset === undefined && hasPersistentSession(service.attributes.labels);
  if (panic === undefined && !weighs && zones === undefined && !persistent) return plainLoadBalancing;
  return {
    ...panic,
    ...zones,
    ...(weighs ? { localityWeightedLbConfig: {} } : {}),
    ...(persistent ? { overrideHostStatus: { statuses: ["HEALTHY", "DRAINING", "UNKNOWN", "DEGRADED"] } } : {}),
  };
}

/** Envoy refuses a dynamic cluster with HTTP options unless they check names or it is told that this is meant. */
function leavesNamesUnchecked(http: UpstreamHttp, upstream: UpstreamSecurity["upstream"]): boolean {
  const hasOptions = [http.protocol, http.common, http.errors, upstream].some((one) => one !== undefined);
  return hasOptions && !(upstream?.autoSni === true && upstream.autoSanValidation === true);
}
