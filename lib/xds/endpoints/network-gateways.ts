import { byCodePoint } from "../../base/diagnostic.ts";
import { ipFamily, isIpAddress } from "../../config/values/ip-address.ts";
import type { EndpointPerspective } from "../../mesh/views/views.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import { clusterLabel, networkLabel } from "../../registry/labels.ts";
import type { Endpoint } from "../../registry/service.ts";
import { gatewayEndpoint } from "./lb-endpoint.ts";
import { type LocalityGroup, type Member, maxWeight, totalWeight, weightOfMember } from "./locality-group.ts";
import { inNetwork } from "./select-endpoints.ts";

/** The gateways between networks, ready to be asked. */
export interface GatewayIndex {
  /** Gateways in front of an endpoint: those of its network and cluster, else of its network. */
  inFrontOf(network: string, clusterId: string): readonly NetworkGateway[];
  /** What all weights are multiplied by, so that every number of gateways can share one evenly. */
  readonly scale: number;
  readonly size: number;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** @see docs/how-istio-does-it/networks.md#gateways */
export function indexGateways(gateways: readonly NetworkGateway[]): GatewayIndex {
  const usable = gateways.filter((gateway) => gateway.port !== 0);
  const byKey = new Map<string, NetworkGateway[]>();
  const add = (key: string, gateway: NetworkGateway): void => {
    const list = byKey.get(key);
    if (list === undefined) byKey.set(key, [gateway]);
    else list.push(gateway);
  };
  for (const gateway of usable) {
    add(gateway.network, gateway);
    add(`${gateway.network}|${gateway.clusterId}`, gateway);
  }
  let scale = 1;
  for (const { length } of byKey.values()) scale = (scale / greatestCommonDivisor(scale, length)) * length;
  return {
    inFrontOf: (network, clusterId) => byKey.get(`${network}|${clusterId}`) ?? byKey.get(network) ?? [],
    scale,
    size: usable.length,
  };
}

function scaled(member: Member, scale: number): Member {
  if (scale === 1) return member;
  const weight = Math.min(maxWeight, weightOfMember(member) * scale);
  return { ...member, json: { ...member.json, loadBalancingWeight: weight } };
}

/** Whether a proxy can open a connection to the gateway; of a name nobody knows the family. */
function reachable(gateway: NetworkGateway, perspective: EndpointPerspective): boolean {
  if (perspective.ipMode === "dual" || !isIpAddress(gateway.address)) return true;
  return ipFamily(gateway.address) === perspective.ipMode;
}

/** Direct: the same network as far as known, or a network nobody put a gateway in front of. */
function isDirect(endpoint: Endpoint, perspective: EndpointPerspective, gateways: readonly NetworkGateway[]): boolean {
  if (gateways.length === 0) return true;
  if (perspective.network === "" && endpoint.network !== "") return false;
  return inNetwork(perspective, endpoint.network);
}

/**
 * Replaces the endpoints of other networks by the gateways in front of them, in the same locality group: each gateway
 * gets an equal part of their weights. Only endpoints that take mTLS can be reached so, because the gateway routes by
 * the SNI of mesh mTLS.
 *
 * @see docs/how-istio-does-it/networks.md#endpoints-behind-gateways
 */
export function splitHorizon(
  groups: readonly LocalityGroup[],
  index: GatewayIndex,
  perspective: EndpointPerspective,
): readonly LocalityGroup[] {
  if (index.size === 0) return groups;
  return groups.map((group) => {
    const direct: Member[] = [];
    const weights = new Map<NetworkGateway, number>();
    for (const member of group.members) {
      const { endpoint } = member;
      if (endpoint === undefined) continue;
      const gateways = index.inFrontOf(endpoint.network, endpoint.locality.clusterId);
      const weighed = scaled(member, index.scale);
      if (isDirect(endpoint, perspective, gateways)) {
        // As in Istio, sockets have no place in a mesh of several networks.
        if (endpoint.addresses.length > 0 && endpoint.unixPath === "") direct.push(weighed);
        continue;
      }
      const usable = gateways.filter((gateway) => reachable(gateway, perspective));
      if (usable.length === 0 || !member.mtls) continue;
      const part = Math.floor(weightOfMember(weighed) / usable.length);
      for (const gateway of usable) weights.set(gateway, (weights.get(gateway) ?? 0) + part);
    }
    const members = [...direct, ...[...weights].sort(byAddress).map(([gateway, weight]) => asMember(gateway, weight))];
    return { ...group, members, weight: totalWeight(members) };
  });
}

function byAddress([a]: readonly [NetworkGateway, number], [b]: readonly [NetworkGateway, number]): number {
  return byCodePoint(a.address, b.address) || a.port - b.port;
}

/** A gateway has the topology labels that it is known by, so that failover priorities can compare them. */
function asMember(gateway: NetworkGateway, weight: number): Member {
  return {
    labels: {
      ...(gateway.clusterId === "" ? {} : { [clusterLabel]: gateway.clusterId }),
      ...(gateway.network === "" ? {} : { [networkLabel]: gateway.network }),
    },
    endpoint: undefined,
    mtls: true,
    json: gatewayEndpoint(gateway, weight),
  };
}
