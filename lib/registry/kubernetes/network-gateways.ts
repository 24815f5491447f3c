import type { NetworkGateway } from "../changes/registry-state.ts";
import { networkLabel } from "../labels.ts";
import type { Service } from "../service.ts";
import type { ClusterSettings } from "./settings.ts";

/** Label that states another port than the usual one. */
const gatewayPortLabel = "networking.istio.io/gatewayPort";
const defaultGatewayPort = 15443;

/** Networks and ports a service is the gateway of: by its own labels, else by MeshNetworks. */
function gatewayPorts(service: Service, settings: ClusterSettings): readonly { network: string; port: number }[] {
  const network = service.attributes.labels[networkLabel] ?? "";
  if (network === "") return settings.networks.serviceGateways.get(service.hostname) ?? [];
  const stated = Number(service.attributes.labels[gatewayPortLabel]);
  const port = Number.isInteger(stated) && stated > 0 ? stated : defaultGatewayPort;
  // The label alone makes no gateway: mutual TLS has to be taken at the port.
  return service.ports.some((candidate) => candidate.port === port) ? [{ network, port }] : [];
}

/**
 * Gateways that a service of this cluster is: one for each of its external addresses.
 * @see docs/how-istio-does-it/networks.md#gateways
 */
export function networkGatewaysOf(service: Service, settings: ClusterSettings): readonly NetworkGateway[] {
  const addresses = service.attributes.clusterExternalAddresses.get(settings.clusterId) ?? [];
  if (addresses.length === 0) return [];
  const nodePorts = service.attributes.clusterExternalPorts.get(settings.clusterId);
  return gatewayPorts(service, settings).flatMap(({ network, port }) =>
    addresses.map((address) => ({
      network,
      clusterId: settings.clusterId,
      address,
      port: nodePorts?.get(port) ?? port,
    })),
  );
}
