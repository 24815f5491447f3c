import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { isIpv6, socketAddressOf } from "./addresses.ts";
import type { NodeResources } from "./node-resources.ts";
import { addressIn, type TracedRequest } from "./traced-request.ts";

/**
 * The address that a workload's resolver would give for a host, as far as the node's resources say it: route tables name a service's
 * address beside its names, and listeners of TCP services stand on it.
 *
 * @returns the first one, IPv4 before IPv6; undefined where nothing says it
 */
export function addressOfHost({ listeners, routes }: NodeResources, host: string, port: number): string | undefined {
  const wanted = host.toLowerCase();
  const tables = [...routes.values()].sort((a, b) => distance(a, port) - distance(b, port));
  const domains = tables.flatMap(({ virtualHosts = [] }) => virtualHosts).map((one) => one.domains ?? []);
  const named = domains.find((list) => list.some((domain) => domain.toLowerCase() === wanted)) ?? [];
  const addresses = named.flatMap((domain) => addressIn(domain) ?? []);
  const listened = listeners.flatMap((listener) => {
    const address = socketAddressOf(listener.address);
    if (address?.port !== port || /^(0\.0\.0\.0|::)$/.test(address.address)) return [];
    const text = JSON.stringify(listener);
    return [`|${port}||${wanted}"`, `|${port}||${wanted}.`].some((one) => text.includes(one)) ? [address.address] : [];
  });
  const all = [...addresses, ...listened];
  return all.find((one) => !isIpv6(one)) ?? all[0];
}

/** The table of the port itself comes first. */
const distance = ({ name = "" }: RouteConfigurationJson, port: number): number =>
  name === String(port) ? 0 : name.endsWith(`:${port}`) ? 1 : 2;

/** A request whose destination is what the node's resources say of its host. */
export function withDestination(resources: NodeResources, request: TracedRequest, host: string): TracedRequest {
  const { destination, direction } = request;
  if (destination.address !== undefined || direction === "inbound") return request;
  const address = addressOfHost(resources, host, destination.port);
  return address === undefined ? request : { ...request, destination: { ...destination, address } };
}

/** Which way a node's connections are most likely meant: a gateway is reached, a sidecar's workload opens them. */
export const usualDirection = ({ listeners }: NodeResources): TracedRequest["direction"] =>
  listeners.some(({ useOriginalDst, trafficDirection }) => useOriginalDst === true && trafficDirection === "OUTBOUND")
    ? "outbound"
    : "inbound";
