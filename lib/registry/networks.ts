import ipaddr from "ipaddr.js";
import { byCodePoint } from "../base/diagnostic.ts";
import type { MeshNetworks } from "../config/kinds/mesh-networks.ts";
import { isCidr, isIpAddress } from "../config/values/ip-address.ts";

/** A gateway that MeshNetworks names by the service it runs behind. */
export interface ServiceGateway {
  readonly network: string;
  readonly port: number;
}

/** What MeshNetworks says to one cluster's registry. */
export interface ClusterNetworks {
  /** Network of the whole registry (`fromRegistry`), "" when none claims it. */
  readonly ofRegistry: string;
  /** Network of an address by `fromCidr`, "" when no range holds it. Of several ranges the widest counts, as in Istio. */
  ofAddress(address: string): string;
  /** Host name of a service → gateways that it is the front of. */
  readonly serviceGateways: ReadonlyMap<string, readonly ServiceGateway[]>;
}

interface Range {
  readonly network: string;
  readonly base: ipaddr.IPv4 | ipaddr.IPv6;
  readonly bits: number;
}

function rangesOf(meshNetworks: MeshNetworks): readonly Range[] {
  const ranges: Range[] = [];
  for (const [network, { endpoints }] of Object.entries(meshNetworks.networks)) {
    for (const { fromCidr } of endpoints ?? []) {
      if (fromCidr === undefined || !isCidr(fromCidr)) continue;
      const [base, bits] = ipaddr.parseCIDR(fromCidr);
      ranges.push({ network, base, bits });
    }
  }
  return ranges.sort((a, b) => a.bits - b.bits || byCodePoint(a.network, b.network));
}

function holds(range: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === range.base.kind() && address.match(range.base, range.bits);
}

/** Reads MeshNetworks for the registry of `clusterId`. @see docs/how-istio-does-it/networks.md#which-network */
export function clusterNetworks(meshNetworks: MeshNetworks, clusterId: string): ClusterNetworks {
  const ranges = rangesOf(meshNetworks);
  let ofRegistry = "";
  const serviceGateways = new Map<string, ServiceGateway[]>();
  const byName = Object.entries(meshNetworks.networks).sort(([a], [b]) => byCodePoint(a, b));
  for (const [network, { endpoints, gateways }] of byName) {
    if (!(endpoints ?? []).some(({ fromRegistry }) => fromRegistry === clusterId)) continue;
    ofRegistry = network;
    for (const { registryServiceName, port } of gateways ?? []) {
      if (registryServiceName === undefined || registryServiceName === "") continue;
      const fronts = serviceGateways.get(registryServiceName) ?? [];
      fronts.push({ network, port });
      serviceGateways.set(registryServiceName, fronts);
    }
  }
  const ofAddress = (address: string): string => {
    if (ranges.length === 0 || !isIpAddress(address)) return "";
    const parsed = ipaddr.parse(address);
    return ranges.find((range) => holds(range, parsed))?.network ?? "";
  };
  return { ofRegistry, ofAddress, serviceGateways };
}
