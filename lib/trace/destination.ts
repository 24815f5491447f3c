import type { FilterChainJson } from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import type { TcpProxyJson } from "../../gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts";
import { isIpv6, networkText, socketAddressOf } from "./addresses.ts";
import type { NodeResources } from "./node-resources.ts";
import { addressIn, type TracedRequest } from "./traced-request.ts";

/**
 * The address that a workload's resolver would give for a host, as far as the node's resources say it: an agent's table of names says it;
 * route tables name a service's address beside its names; listeners of TCP services stand on it, or have a chain for a range of addresses,
 * of which the first is taken.
 *
 * @returns the first one, IPv4 before IPv6; undefined where nothing says it
 */
export function addressOfHost(
  { listeners, routes, names }: NodeResources,
  host: string,
  port: number,
): string | undefined {
  const wanted = host.toLowerCase();
  const tables = [...routes.values()].sort((a, b) => distance(a, port) - distance(b, port));
  const domains = tables.flatMap(({ virtualHosts = [] }) => virtualHosts).map((one) => one.domains ?? []);
  const named = domains.find((list) => list.some((domain) => domain.toLowerCase() === wanted)) ?? [];
  const addresses = named.flatMap((domain) => addressIn(domain) ?? []);
  const listened = listeners.flatMap((listener): readonly string[] => {
    const address = socketAddressOf(listener.address);
    if (address?.port !== port) return [];
    const chains = [...(listener.filterChains ?? []), listener.defaultFilterChain ?? {}];
    const leading = chains.filter((one) => leadsTo(one, wanted, port));
    if (!/^(0\.0\.0\.0|::)$/.test(address.address)) return leading.length > 0 ? [address.address] : [];
    const chain = leading.find((one) => (one.filterChainMatch?.prefixRanges ?? []).length > 0);
    const [range] = chain?.filterChainMatch?.prefixRanges ?? [];
    return range === undefined ? [] : [networkText(range).split("/", 1)[0] ?? ""];
  });
  const all = [...nameAddresses(names, wanted), ...addresses, ...listened];
  return all.find((one) => !isIpv6(one)) ?? all[0];
}

/** Whether a chain leads to a cluster of a host, by the host's whole name or its beginning. */
function leadsTo({ filters = [] }: FilterChainJson, host: string, port: number): boolean {
  const names = filters.flatMap(({ typedConfig }) => {
    const { cluster, weightedClusters }: TcpProxyJson = Object(typedConfig);
    return [cluster, ...(weightedClusters?.clusters ?? []).map(({ name }) => name)];
  });
  return names.some((name) => `${name?.toLowerCase()}.`.includes(`|${port}||${host}.`));
}

/** By the name itself, else by the first that only has more of Kubernetes' domain behind it. */
function nameAddresses(names: NodeResources["names"], host: string): readonly string[] {
  if (names === undefined) return [];
  const longer = (name: string) => /^(?:[^.]+\.)?svc\./.test(name.slice(host.length + 1));
  const found = [...names.keys()].find((name) => name.startsWith(`${host}.`) && longer(name));
  return names.get(host) ?? (found === undefined ? [] : (names.get(found) ?? []));
}

/** The table of the port itself comes first. */
const distance = ({ name = "" }: RouteConfigurationJson, port: number): number =>
  name === String(port) ? 0 : name.endsWith(`:${port}`) ? 1 : 2;

/**
 * A request whose destination is what the node's resources say of its host.
 *
 * @param known what somebody else knows of it, who knows better
 */
export function withDestination(
  resources: NodeResources,
  request: TracedRequest,
  host: string,
  known?: string,
): TracedRequest {
  const { destination, direction } = request;
  if (destination.address !== undefined || direction === "inbound") return request;
  const address = known ?? addressOfHost(resources, host, destination.port);
  return address === undefined ? request : { ...request, destination: { ...destination, address } };
}

/** Which way a node's connections are most likely meant: a gateway is reached, a sidecar's workload opens them. */
export const usualDirection = ({ listeners }: NodeResources): TracedRequest["direction"] =>
  listeners.some(({ useOriginalDst, trafficDirection }) => useOriginalDst === true && trafficDirection === "OUTBOUND")
    ? "outbound"
    : "inbound";
