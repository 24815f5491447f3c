import { type Diagnostic, fileOrigin, type Origin } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { KubernetesGateway } from "../../config/gateway-api/gateway.ts";
import type { Service } from "../../registry/service.ts";
import type { NetworkIndex } from "./network-index.ts";

/** What names a gateway between networks: a Service, a Gateway or MeshNetworks. */
interface Naming {
  readonly services: readonly Service[];
  readonly gateways: readonly Config<KubernetesGateway>[];
}

/** One for each host name of a gateway between networks of which no address is known. */
export function unresolvedGateways({ gateways, unknown }: NetworkIndex, naming: Naming): readonly Diagnostic[] {
  return unknown.map((host) => {
    const networks = gateways.flatMap(({ address, network }) => (address === host ? network : []));
    return {
      code: "gateway-host-not-resolved",
      severity: "warning",
      ...placeOf(host, naming),
      message:
        `no address is known for ${host}, the gateway of network ${[...new Set(networks)].sort().join(", ")}: it is left out of ` +
        "endpoints, and only clusters that resolve names themselves use it",
      hint: "`portolan status` shows why; `portolan resolve` asks DNS now",
    };
  });
}

/** The object that names a host, the first one of several. */
function placeOf(host: string, { services, gateways }: Naming): Pick<Diagnostic, "origin" | "path"> {
  const service = services.find(({ attributes }) =>
    [...attributes.clusterExternalAddresses.values()].some((addresses) => addresses.includes(host)),
  );
  const ofService: Origin | undefined = service?.origins[0];
  if (ofService !== undefined) return { origin: ofService, path: ["status", "loadBalancer", "ingress"] };
  const gateway = gateways.find(({ spec }) => spec.addresses?.some(({ value }) => value === host));
  if (gateway !== undefined) return { origin: gateway.origin, path: ["spec", "addresses"] };
  return { origin: fileOrigin("networks.yaml"), path: ["networks"] };
}
