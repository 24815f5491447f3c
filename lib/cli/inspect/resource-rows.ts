import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import type { FilterChainMatchJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import { parseClusterName } from "../../xds/names.ts";

/** What rows are narrowed by; each counts where it is there. */
export interface RowFilter {
  readonly fqdn?: string;
  readonly port?: number;
  readonly direction?: string;
  readonly subset?: string;
  readonly name?: string;
  readonly address?: string;
}

export const tableTypes = ["clusters", "listeners", "routes", "endpoints"] as const;
export type TableType = (typeof tableTypes)[number];

/** The heads of a type's columns. */
export const columns: Readonly<Record<TableType, readonly string[]>> = {
  clusters: ["SERVICE FQDN", "PORT", "SUBSET", "DIRECTION", "TYPE", "DESTINATION RULE"],
  listeners: ["ADDRESS", "PORT", "MATCH", "DESTINATION"],
  routes: ["NAME", "VHOST NAME", "DOMAINS", "MATCH", "DESTINATION"],
  endpoints: ["ENDPOINT", "STATUS", "LOCALITY", "CLUSTER"],
};

/** Whether a resource is asked for, by what its name and address say. */
export function isAskedFor(resource: StoredResource, filter: RowFilter): boolean {
  const { name, type, text } = resource;
  if (filter.name !== undefined && !name.includes(filter.name)) return false;
  const parts = parseClusterName(name);
  if (
    filter.fqdn !== undefined &&
    parts?.host !== filter.fqdn &&
    !(type === "routes" && text.includes(`"${filter.fqdn}"`))
  )
    return false;
  if (filter.subset !== undefined && parts?.subset !== filter.subset) return false;
  if (type !== "listeners") {
    if (filter.direction !== undefined && directionOf(name) !== filter.direction) return false;
    if (filter.address !== undefined && !(type === "endpoints" && text.includes(`"${filter.address}"`))) return false;
    const port = parts?.port ?? Number(/(?:^|[.:_|])(\d+)(?:\||$)/.exec(name)?.[1]);
    return (
      filter.port === undefined ||
      port === filter.port ||
      (type === "endpoints" && text.includes(`"portValue":${filter.port}}`))
    );
  }
  const listener: ListenerJson = JSON.parse(text);
  const { address = "", portValue } = listener.address?.socketAddress ?? {};
  if (filter.direction !== undefined && String(listener.trafficDirection ?? "").toLowerCase() !== filter.direction)
    return false;
  if (filter.address !== undefined && address !== filter.address) return false;
  return filter.port === undefined || portValue === filter.port;
}

const directionOf = (name: string): string =>
  parseClusterName(name)?.direction ?? (name.startsWith("inbound") ? "inbound" : "outbound");

/** A resource as rows of its type's table. */
export function rowsOf({ type, name, text, from }: StoredResource): readonly (readonly string[])[] {
  switch (type) {
    case "clusters":
      return [clusterRow(name, JSON.parse(text), from)];
    case "listeners":
      return listenerRows(JSON.parse(text));
    case "routes":
      return routeRows(name, JSON.parse(text));
    case "endpoints":
      return endpointRows(name, JSON.parse(text));
    default:
      return [];
  }
}

function clusterRow(name: string, cluster: ClusterJson, from: readonly string[]): readonly string[] {
  const parts = parseClusterName(name);
  const rule = from.find((key) => key.startsWith("DestinationRule/"))?.replace("DestinationRule/", "") ?? "";
  const kind = cluster.clusterType?.name ?? String(cluster.type ?? "STATIC");
  if (parts === undefined) return [name, "-", "-", "-", kind, rule];
  return [parts.host || name, String(parts.port), parts.subset || "-", parts.direction, kind, rule];
}

function listenerRows({
  address,
  filterChains = [],
  defaultFilterChain,
}: ListenerJson): readonly (readonly string[])[] {
  const { address: at = address?.pipe?.path ?? "", portValue = 0 } = address?.socketAddress ?? {};
  const chains = [...filterChains, ...(defaultFilterChain === undefined ? [] : [defaultFilterChain])];
  return chains.map((chain) => {
    const match = chain === defaultFilterChain ? "default" : matchText(chain.filterChainMatch ?? {});
    return [at, String(portValue), match, destinationOf(JSON.stringify(chain.filters ?? []))];
  });
}

function matchText(match: FilterChainMatchJson): string {
  const parts = [
    match.transportProtocol === undefined ? "" : `Trans: ${match.transportProtocol}`,
    (match.applicationProtocols ?? []).length === 0 ? "" : `App: ${match.applicationProtocols?.join(",")}`,
    (match.serverNames ?? []).length === 0 ? "" : `SNI: ${match.serverNames?.join(",")}`,
    (match.prefixRanges ?? []).length === 0
      ? ""
      : `Addr: ${match.prefixRanges?.map((one) => `${one.addressPrefix}/${one.prefixLen}`).join(",")}`,
    match.destinationPort === undefined ? "" : `Port: ${match.destinationPort}`,
  ];
  return parts.filter((part) => part !== "").join("; ") || "ALL";
}

function destinationOf(filters: string): string {
  const table = /"routeConfigName":"([^"]*)"/.exec(filters)?.[1];
  if (table !== undefined) return `Route: ${table}`;
  const inline = /"routeConfig":\{"name":"([^"]*)"/.exec(filters)?.[1];
  if (inline !== undefined) return `Inline Route: ${inline}`;
  const cluster = /"cluster":"([^"]*)"/.exec(filters)?.[1];
  return cluster === undefined ? "Non-HTTP/Non-TCP" : `Cluster: ${cluster}`;
}

function routeRows(name: string, { virtualHosts = [] }: RouteConfigurationJson): readonly (readonly string[])[] {
  return virtualHosts.flatMap((host) => {
    const domains = host.domains ?? [];
    const shown =
      domains.length > 2 ? `${domains.slice(0, 2).join(", ")} + ${domains.length - 2} more` : domains.join(", ");
    return (host.routes ?? []).map(({ match = {}, route, redirect, directResponse }) => {
      const { prefix, path, safeRegex, pathSeparatedPrefix } = match;
      const takes =
        prefix !== undefined ? `${prefix}*` : (path ?? safeRegex?.regex ?? `${pathSeparatedPrefix ?? ""}/*`);
      const weighted = (route?.weightedClusters?.clusters ?? [])
        .map((one) => `${one.name} ${one.weight ?? 0}`)
        .join(", ");
      const to =
        redirect !== undefined
          ? "redirect"
          : directResponse !== undefined
            ? `response ${directResponse.status}`
            : weighted || (route?.cluster ?? "-");
      return [name, host.name ?? "", shown, takes, to];
    });
  });
}

function endpointRows(name: string, { endpoints = [] }: ClusterLoadAssignmentJson): readonly (readonly string[])[] {
  return endpoints.flatMap(({ locality = {}, lbEndpoints = [] }) =>
    lbEndpoints.map(({ endpoint, healthStatus = "HEALTHY" }) => {
      const { socketAddress, pipe } = endpoint?.address ?? {};
      const at =
        socketAddress === undefined ? (pipe?.path ?? "-") : `${socketAddress.address}:${socketAddress.portValue}`;
      const place = [locality.region, locality.zone, locality.subZone].filter((part) => part !== undefined).join("/");
      return [at, String(healthStatus === "UNKNOWN" ? "HEALTHY" : healthStatus), place || "-", name];
    }),
  );
}
