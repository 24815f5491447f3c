import { byCodePoint } from "../../base/diagnostic.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import type { HostAddresses } from "../../config/kinds/resolved-facts.ts";
import { isIpAddress } from "../../config/values/ip-address.ts";
import { query } from "../../incremental/query.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";

/** Gateways between networks. @see docs/how-istio-does-it/networks.md#gateways */
export interface NetworkIndex {
  /** By address, then port; without duplicates. A host name stays one: DNS clusters resolve it themselves. */
  readonly gateways: readonly NetworkGateway[];
  /** The same with the addresses that a resolver found in place of host names; without those of which none are known. */
  readonly resolved: readonly NetworkGateway[];
  /** Host names among them of which no address is known; sorted. */
  readonly unknown: readonly string[];
}

interface Inputs {
  readonly meshNetworks: MeshNetworks;
  /** Those that registries found, and that Gateways stand for. */
  readonly found: readonly NetworkGateway[];
}

/** Those that were found and those that MeshNetworks gives an address for, which belong to no cluster. */
export const gatewaysBetweenNetworks = query(
  "gateways between networks",
  ({ meshNetworks, found }: Inputs): readonly NetworkGateway[] => {
    const declared = Object.entries(meshNetworks.networks).flatMap(([network, { gateways }]) =>
      (gateways ?? []).flatMap(({ address, port }): readonly NetworkGateway[] =>
        address === undefined ? [] : [{ network, clusterId: "", address, port }],
      ),
    );
    return sorted([...declared, ...found]);
  },
);

/** By address, then port; each once. */
function sorted(gateways: readonly NetworkGateway[]): readonly NetworkGateway[] {
  const unique = new Map<string, NetworkGateway>();
  for (const { network, clusterId, address, port } of gateways)
    unique.set(JSON.stringify([network, clusterId, address, port]), { network, clusterId, address, port });
  return [...unique.values()].sort(
    (a, b) => byCodePoint(a.address, b.address) || a.port - b.port || byCodePoint(a.clusterId, b.clusterId),
  );
}

/** Host names among the addresses of gateways; sorted, each once. */
export const gatewayHosts = (gateways: readonly NetworkGateway[]): readonly string[] =>
  [...new Set(gateways.flatMap(({ address }) => (isIpAddress(address) ? [] : address)))].sort(byCodePoint);

/** The index, remembered. */
export const networkIndex = query(
  "network index",
  { hostAddresses: "value" },
  ({
    gateways,
    hostAddresses,
  }: {
    readonly gateways: readonly NetworkGateway[];
    readonly hostAddresses: readonly HostAddresses[];
  }): NetworkIndex => {
    const addressesOf = new Map(hostAddresses.map(({ host, addresses }) => [host, addresses]));
    const hosts = gatewayHosts(gateways);
    const resolved =
      hosts.length === 0
        ? gateways
        : sorted(
            gateways.flatMap((gateway) =>
              isIpAddress(gateway.address)
                ? gateway
                : (addressesOf.get(gateway.address) ?? []).map((address) => ({ ...gateway, address })),
            ),
          );
    const unknown = hosts.filter((host) => (addressesOf.get(host) ?? []).length === 0);
    return { gateways, resolved, unknown };
  },
);
