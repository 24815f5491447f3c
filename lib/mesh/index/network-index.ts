import { byCodePoint } from "../../config/diagnostic.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import type { NetworkGateway } from "../../registry/registry-state.ts";
import { step } from "../memo/step.ts";

/** Gateways between networks. @see docs/how-istio-does-it/networks.md#gateways */
export interface NetworkIndex {
  /** By address, then port; without duplicates. */
  readonly gateways: readonly NetworkGateway[];
}

/** The index, remembered. */
export const networkIndex = step(
  "network index",
  { meshNetworks: "identity", found: "identity" },
  ({ meshNetworks, found }: { readonly meshNetworks: MeshNetworks; readonly found: readonly NetworkGateway[] }) =>
    indexNetworks(meshNetworks, found),
);

/** Those that registries found and those that MeshNetworks gives an address for, which belong to no cluster. */
function indexNetworks(meshNetworks: MeshNetworks, found: readonly NetworkGateway[]): NetworkIndex {
  const declared = Object.entries(meshNetworks.networks).flatMap(([network, { gateways }]) =>
    (gateways ?? []).flatMap(({ address, port }): readonly NetworkGateway[] =>
      // A host name stays: DNS clusters resolve it themselves, the others leave such a gateway out.
      address === undefined ? [] : [{ network, clusterId: "", address, port }],
    ),
  );
  const unique = new Map<string, NetworkGateway>();
  for (const gateway of [...declared, ...found]) unique.set(JSON.stringify(Object.values(gateway)), gateway);
  const gateways = [...unique.values()].sort(
    (a, b) => byCodePoint(a.address, b.address) || a.port - b.port || byCodePoint(a.clusterId, b.clusterId),
  );
  return { gateways };
}
