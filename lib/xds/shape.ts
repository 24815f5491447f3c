import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ConfigSourceJson } from "../../gen/envoy/config/core/v3/config_source_pb.ts";
import { byCodePoint } from "../base/diagnostic.ts";
import { mappedList } from "../incremental/mapped-list.ts";
import type { Memo } from "../incremental/memo.ts";
import { namesOf } from "../incremental/names-of.ts";
import { query } from "../incremental/query.ts";
import { isJsonObject, type JsonObject, mapJson } from "./map-json.ts";
import { localClusterName, portolanCluster } from "./names.ts";
import { type ClassResources, mapParted, noResources, type Resource } from "./resource.ts";
import { withFallbackFilter } from "./wasm/fallback-filter.ts";
import { isLeftToAgent, renamingsOf, withFetchedNames } from "./wasm/fetched-names.ts";

/**
 * Where a polling Envoy fetches what a stream would bring: from the control plane cluster of its bootstrap. The timeout
 * leaves room for held polls (the front answers within it), the delay bounds the load of a front that cannot hold.
 *
 * @param pollDelayMs at least 1: less crashes Envoy
 * @see docs/how-istio-does-it/rest-polling.md#which-shape
 * @see docs/how-istio-does-it/rest-polling.md#held-polls
 */
export const restSource = (pollDelayMs = usualPollDelayMs) =>
  ({
    apiConfigSource: {
      apiType: "REST",
      transportApiVersion: "V3",
      clusterNames: [portolanCluster],
      refreshDelay: `${pollDelayMs / 1_000}s`,
      requestTimeout: "30s",
    },
    initialFetchTimeout,
    resourceApiVersion: "V3",
  }) as const satisfies ConfigSourceJson;

/** How long an Envoy waits from one poll to the next, at least; it adds up to as much again. */
export const usualPollDelayMs = 1_000;

const initialFetchTimeout = "5s";

/**
 * Resources as they go over a stream: as Istio writes them, but for code of Wasm that only Istio's agent fetches. An Envoy without that
 * agent has it as one that polls does.
 *
 * @returns resources of unchanged identity where nothing had to change
 */
export function streamShape(resources: ClassResources, memo: Memo): ClassResources {
  const { listeners, extension_configs: extensions } = resources;
  if (extensions === undefined) return resources;
  const renamings = renamingsOf(extensions, "stream");
  return {
    ...resources,
    listeners: mapParted(listeners, (list) => withFetchedNames(list, renamings, memo)),
    extension_configs: mapParted(extensions, (list) => streamedExtensions(memo, { resources: list })),
  };
}

const streamedExtensions = query(
  "extensions over streams",
  ({ resources }: { readonly resources: readonly Resource[] }, memo: Memo): readonly Resource[] =>
    resources.map((resource) => (isLeftToAgent(resource, "stream") ? resource : standIn(memo, { resource }))),
);

/** What `pollShape` may be told. */
export interface PollOptions {
  /** Clusters that keep an endpoint poll of their own, by name: those whose endpoints change all the time. */
  readonly separateEndpoints?: ReadonlySet<string>;
  /** Of every REST source. */
  readonly pollDelayMs?: number | undefined;
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
  const { clusters, endpoints, listeners, routes, extension_configs: extensions, name_tables: names } = resources;
  const { shared } = endpoints;
  const { pollDelayMs = usualPollDelayMs } = options;
  const renamings = renamingsOf(extensions, "poll");
  const inlining = { endpoints: shared, separate, pollDelayMs };
  return {
    clusters: {
      shared: polledClusters(memo, { clusters: clusters.shared, others: noResources, ...inlining }),
      own: clusters.own.some(({ json }) => serviceNameOf(json) !== "")
        ? polledClusters(memo, { clusters: clusters.own, others: endpoints.own, ...inlining })
        : polledResources(memo, { resources: clusters.own, pollDelayMs }),
    },
    endpoints: mapParted(endpoints, (list) => polledEndpoints(memo, { endpoints: list, separate })),
    listeners: mapParted(listeners, (list) =>
      polledResources(memo, { resources: withFetchedNames(list, renamings, memo), pollDelayMs }),
    ),
    routes,
    ...(extensions === undefined
      ? {}
      : {
          extension_configs: mapParted(extensions, (list) => polledExtensions(memo, { resources: list, pollDelayMs })),
        }),
    ...(names === undefined ? {} : { name_tables: names }),
  };
}

interface Separate {
  readonly endpoints: readonly Resource[];
  /** Names of clusters that keep an endpoint poll of their own. */
  readonly separate: readonly string[];
}

interface Delayed {
  readonly pollDelayMs: number;
}

interface Inlining extends Separate, Delayed {
  readonly clusters: readonly Resource[];
  /** More endpoints. */
  readonly others: readonly Resource[];
}

const polledClusters = query(
  "polled clusters",
  { separate: "value" },
  ({ clusters, endpoints, others, separate, pollDelayMs }: Inlining, memo: Memo): readonly Resource[] => {
    const names = namesOfServices(memo, { clusters, separate });
    const shared = placesIn(memo, { names, places: placesOf(endpoints, memo) });
    const own = placesIn(memo, { names, places: placesOf(others, memo) });
    const slot = `${pollDelayMs}|${clusters.length}|${clusters[0]?.name}`;
    return eachPolledCluster(
      memo,
      slot,
      clusters,
      { pollDelayMs },
      (_, at) => others[own[at] ?? -1] ?? endpoints[shared[at] ?? -1],
    );
  },
);

/** Under which names clusters ask for endpoints that are inlined; undefined where they do not. */
const namesOfServices = query(
  "service names of clusters",
  { separate: "value" },
  ({ clusters, separate }: Pick<Inlining, "clusters" | "separate">): readonly (string | undefined)[] => {
    const isSeparate = new Set(separate);
    return clusters.map(({ json }) => {
      const name = serviceNameOf(json);
      return isSeparate.has(name) ? undefined : name;
    });
  },
);

interface Placing {
  readonly names: readonly (string | undefined)[];
  readonly places: ReadonlyMap<string, number>;
}

/** Where what each name stands for is in a list. A change of endpoints leaves that as it is: they are found without a name. */
const placesIn = query(
  "places of what clusters ask for",
  ({ names, places }: Placing): readonly (number | undefined)[] =>
    names.map((name) => (name === undefined ? undefined : places.get(name))),
);

/** Where each name stands in a list. A change of endpoints leaves the names as they are, and with them their places. */
const placesOf = (list: readonly Resource[], memo: Memo): ReadonlyMap<string, number> =>
  placesOfNames(memo, { names: namesOf(memo, "load assignments", list) });

const placesOfNames = query(
  "places of names",
  ({ names }: { readonly names: readonly string[] }): ReadonlyMap<string, number> =>
    new Map(names.map((name, at) => [name, at])),
);

const eachPolledCluster = mappedList(
  "polled clusters of a list",
  (cluster: Resource, assignment: Resource | undefined, { pollDelayMs }: Delayed, memo: Memo): Resource =>
    assignment === undefined
      ? polledResource(memo, { resource: cluster, pollDelayMs })
      : inlined(memo, { cluster, assignment, pollDelayMs }),
);

const polledEndpoints = query(
  "polled endpoints",
  { separate: "value" },
  ({ endpoints, separate }: Separate): readonly Resource[] => {
    // Of the local cluster, which stands first: it is in the bootstrap, so that no answer about clusters can hold its endpoints.
    const ofBootstrap = endpoints[0]?.name === localClusterName ? endpoints.slice(0, 1) : noResources;
    // As a rule nobody's: the one list then, whatever the endpoints are.
    if (separate.length === 0) return ofBootstrap;
    const kept = new Set(separate);
    return [...ofBootstrap, ...endpoints.filter(({ name }) => kept.has(name))];
  },
);

const polledResources = query(
  "polled resources",
  (
    { resources, pollDelayMs }: { readonly resources: readonly Resource[] } & Delayed,
    memo: Memo,
  ): readonly Resource[] => resources.map((resource) => polledResource(memo, { resource, pollDelayMs })),
);

const polledExtensions = query(
  "polled extensions",
  (
    { resources, pollDelayMs }: { readonly resources: readonly Resource[] } & Delayed,
    memo: Memo,
  ): readonly Resource[] =>
    resources.map((resource) => polledResource(memo, { resource: standIn(memo, { resource }), pollDelayMs })),
);

const standIn = query("stand-in for an extension", ({ resource }: { readonly resource: Resource }) =>
  withFallbackFilter(resource),
);

/** Name under which a cluster asks for its endpoints, "" if it does not. */
function serviceNameOf(cluster: ClusterJson): string {
  return cluster.type === "EDS" ? (cluster.edsClusterConfig?.serviceName ?? cluster.name ?? "") : "";
}

const inlined = query(
  "polled cluster with its endpoints",
  ({ cluster, assignment, pollDelayMs }: { readonly cluster: Resource; readonly assignment: Resource } & Delayed) => {
    const { edsClusterConfig: _source, ...rest }: ClusterJson = cluster.json;
    const json = { ...polledJson(rest, pollDelayMs), type: "STATIC", loadAssignment: assignment.json };
    return { ...cluster, json };
  },
);

const polledResource = query(
  "polled resource",
  ({ resource, pollDelayMs }: { readonly resource: Resource } & Delayed): Resource => {
    const json = polledJson(resource.json, pollDelayMs);
    return json === resource.json ? resource : { ...resource, json };
  },
);

function polledJson(json: object, pollDelayMs: number): object {
  const polled = mapJson(json, polledSource(pollDelayMs));
  return isJsonObject(polled) ? polled : json;
}

/** Aggregated sources are asked by REST, and nothing waits for ever: without a stream nobody could say why. */
function polledSource(pollDelayMs: number): (object: JsonObject) => JsonObject {
  const source = restSource(pollDelayMs);
  return (object) => {
    if (isJsonObject(object.ads)) return source;
    if (object.initialFetchTimeout !== "0s" || !isJsonObject(object.apiConfigSource)) return object;
    return { ...object, initialFetchTimeout };
  };
}
