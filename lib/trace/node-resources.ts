import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import type { NameTableJson } from "../../gen/istio/networking/nds/v1/nds_pb.ts";

/** What one node has, in protobuf's JSON mapping as snapshots store it. */
export interface NodeResources {
  readonly listeners: readonly ListenerJson[];
  readonly routes: ReadonlyMap<string, RouteConfigurationJson>;
  readonly clusters: ReadonlyMap<string, ClusterJson>;
  /** Empty where clusters have theirs inlined. */
  readonly endpoints: ReadonlyMap<string, ClusterLoadAssignmentJson>;
  /** Addresses by the names that the node's agent answers; absent where it answers none. */
  readonly names?: ReadonlyMap<string, readonly string[]>;
}

/** The JSON texts of a node's resources, by type. */
export interface ResourceTexts {
  readonly listeners: readonly string[];
  readonly routes: readonly string[];
  readonly clusters: readonly string[];
  readonly endpoints: readonly string[];
  readonly nameTables?: readonly string[];
}

/** Reads what a snapshot stores of a class. */
export function nodeResources(texts: ResourceTexts): NodeResources {
  const listeners = texts.listeners.map((text): ListenerJson => JSON.parse(text));
  const routes = texts.routes.map((text): RouteConfigurationJson => JSON.parse(text));
  const clusters = texts.clusters.map((text): ClusterJson => JSON.parse(text));
  const endpoints = texts.endpoints.map((text): ClusterLoadAssignmentJson => JSON.parse(text));
  const tables = (texts.nameTables ?? []).map((text): NameTableJson => JSON.parse(text));
  const names = tables.flatMap(({ table = {} }) => Object.entries(table));
  return {
    ...(names.length === 0 ? {} : { names: new Map(names.map(([host, { ips = [] }]) => [host, ips])) }),
    listeners,
    routes: new Map(routes.map((one) => [one.name ?? "", one])),
    clusters: new Map(clusters.map((one) => [one.name ?? "", one])),
    endpoints: new Map(endpoints.map((one) => [one.clusterName ?? "", one])),
  };
}
