import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ConfigSourceJson } from "../../gen/envoy/config/core/v3/config_source_pb.ts";
import { byCodePoint } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import { isJsonObject, type JsonObject, mapJson } from "./map-json.ts";
import { portolanCluster } from "./names.ts";
import { type ClassResources, mapParted, noResources, type Resource } from "./resource.ts";

/**
 * Where a polling Envoy fetches what a stream would bring: from the control plane cluster of its bootstrap. The timeout
 * leaves room for held polls (the front answers within it), the delay bounds the load of a front that cannot hold.
 *
 * @see docs/how-istio-does-it/rest-polling.md#which-shape
 * @see docs/how-istio-does-it/rest-polling.md#held-polls
 */
export const restSource = {
  apiConfigSource: {
    apiType: "REST",
    transportApiVersion: "V3",
    clusterNames: [portolanCluster],
    refreshDelay: "1s",
    requestTimeout: "30s",
  },
  initialFetchTimeout: "5s",
  resourceApiVersion: "V3",
} as const satisfies ConfigSourceJson;

/** What `pollShape` may be told. */
export interface PollOptions {
  /** Clusters that keep an endpoint poll of their own, by name: those whose endpoints change all the time. */
  readonly separateEndpoints?: ReadonlySet<string>;
}

/**
 * Turns resources made for a stream into those for a polling Envoy: endpoints inside their clusters, so that a node has
 * three kinds of polls and not one per cluster, and every aggregated source a REST source. Route tables stay apart: a
 * change of routes must not drain listeners. Secrets of the agent beside the proxy stay with it, but a cluster that
 * waits for one in vain goes on without.
 *
 * @returns resources of unchanged identity where nothing had to change
 */
export function pollShape(resources: ClassResources, memo: Memo, options: PollOptions = {}): ClassResources {
  const separate = [...(options.separateEndpoints ?? [])].sort(byCodePoint);
  const { clusters, endpoints, listeners, routes } = resources;
  const { shared } = endpoints;
  return {
    clusters: {
      shared: polledClusters(memo, { clusters: clusters.shared, endpoints: shared, others: noResources, separate }),
      own: clusters.own.some(({ json }) => serviceNameOf(json) !== "")
        ? polledClusters(memo, { clusters: clusters.own, endpoints: shared, others: endpoints.own, separate })
        : polledResources(memo, { resources: clusters.own }),
    },
    endpoints: mapParted(endpoints, (list) => polledEndpoints(memo, { endpoints: list, separate })),
    listeners: mapParted(listeners, (list) => polledResources(memo, { resources: list })),
    routes,
  };
}

interface Separate {
  readonly endpoints: readonly Resource[];
  /** Names of clusters that keep an endpoint poll of their own. */
  readonly separate: readonly string[];
}

interface Inlining extends Separate {
  readonly clusters: readonly Resource[];
  /** More endpoints. */
  readonly others: readonly Resource[];
}

const polledClusters = step(
  "polled clusters",
  { clusters: "identity", endpoints: "identity", others: "identity", separate: "value" },
  ({ clusters, endpoints, others, separate }: Inlining, memo: Memo): readonly Resource[] => {
    const assignments = new Map([...endpoints, ...others].map((assignment) => [assignment.name, assignment]));
    for (const name of separate) assignments.delete(name);
    return clusters.map((cluster) => {
      const polled = polledResource(memo, { resource: cluster });
      const assignment = assignments.get(serviceNameOf(cluster.json));
      return assignment === undefined ? polled : inlined(memo, { cluster: polled, assignment });
    });
  },
);

const polledEndpoints = step(
  "polled endpoints",
  { endpoints: "identity", separate: "value" },
  ({ endpoints, separate }: Separate): readonly Resource[] => {
    const kept = new Set(separate);
    return endpoints.filter(({ name }) => kept.has(name));
  },
);

const polledResources = step(
  "polled resources",
  { resources: "identity" },
  ({ resources }: { readonly resources: readonly Resource[] }, memo: Memo): readonly Resource[] =>
    resources.map((resource) => polledResource(memo, { resource })),
);

/** Name under which a cluster asks for its endpoints, "" if it does not. */
function serviceNameOf(cluster: ClusterJson): string {
  return cluster.type === "EDS" ? (cluster.edsClusterConfig?.serviceName ?? cluster.name ?? "") : "";
}

const inlined = step(
  "cluster with its endpoints",
  { cluster: "identity", assignment: "identity" },
  ({ cluster, assignment }: { readonly cluster: Resource; readonly assignment: Resource }): Resource => {
    const { edsClusterConfig: _source, ...rest }: ClusterJson = cluster.json;
    return { ...cluster, json: { ...rest, type: "STATIC", loadAssignment: assignment.json } };
  },
);

const polledResource = step(
  "polled resource",
  { resource: "identity" },
  ({ resource }: { readonly resource: Resource }): Resource => {
    const json = mapJson(resource.json, polledSource);
    return json === resource.json || !isJsonObject(json) ? resource : { ...resource, json };
  },
);

/** Aggregated sources are asked by REST, and nothing waits for ever: without a stream nobody could say why. */
function polledSource(object: JsonObject): JsonObject {
  if (isJsonObject(object.ads)) return restSource;
  if (object.initialFetchTimeout !== "0s" || !isJsonObject(object.apiConfigSource)) return object;
  return { ...object, initialFetchTimeout: restSource.initialFetchTimeout };
}
