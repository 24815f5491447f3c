import type { Config } from "../config/config.ts";
import type { Ingress } from "../config/kinds/ingress.ts";
import type { IngressRule } from "../config/kinds/ingress-rule.ts";
import { unspecifiedAddress } from "../mesh/hosts/service-address.ts";
import type { World } from "../mesh/world.ts";
import { serviceKey } from "../registry/registry-state.ts";
import type { Endpoint, Protocol, Service, ServicePort } from "../registry/service.ts";
import { ingressRulesOf } from "./kubernetes-ingress.ts";
import type {
  LegacyConfigs,
  LegacyInstance,
  LegacyMeshConfig,
  LegacyPort,
  LegacyService,
  LegacyWorld,
  V1Alpha3Configs,
} from "./legacy-world.ts";
import { legacyMeshOf } from "./mesh-settings.ts";

/**
 * The part of a world that an Envoy of the v1 age is told of: what registries know, without ServiceEntries, and objects of
 * the kinds that the world's legacy release served. Everything else does not exist for it.
 */
export function legacyWorldOf(world: World): LegacyWorld {
  const { registry, domain } = world;
  const mesh = meshOf(world);
  const services = new Map(registry.services.filter(isKnown).map((service) => [service, serviceOf(service)]));
  const instances = [...services].flatMap(([service, legacy]) =>
    (registry.endpoints.get(serviceKey(service)) ?? []).flatMap((endpoint) => instanceOf(legacy, endpoint)),
  );
  return {
    services: [...services.values()],
    instances,
    managementPorts: [],
    mesh,
    domain,
    configs: legacyConfigsOf(world.configs, mesh),
    ...(world.legacyApi === "0.7" ? { v1alpha3: v1alpha3ConfigsOf(world.configs) } : {}),
  };
}

/** Hosts of ServiceEntries were no services yet. */
const isKnown = ({ attributes }: Service): boolean => attributes.provider !== "External";

function serviceOf(service: Service): LegacyService {
  const { defaultAddress, resolution } = service;
  return {
    hostname: service.hostname,
    address: defaultAddress === unspecifiedAddress ? "" : defaultAddress,
    external: resolution === "Alias",
    loadBalancingDisabled: resolution === "Passthrough",
    serviceAccounts: service.serviceAccounts,
    ports: service.ports.map((port) => portOf(port, service.attributes.portAuthentication?.get(port.port))),
  };
}

function portOf(
  { name, port, protocol }: ServicePort,
  own: LegacyPort["authenticationPolicy"] = "INHERIT",
): LegacyPort {
  return { name, port, protocol: protocolOf(protocol), authenticationPolicy: own };
}

/** Protocols of a later age are served as what they are carried by; what would be sniffed is plain bytes. */
function protocolOf(protocol: Protocol): Protocol {
  switch (protocol) {
    case "GRPC-Web":
    case "HTTP_PROXY":
      return "HTTP";
    case "TLS":
      return "HTTPS";
    case "MySQL":
    case "Unsupported":
    case "HBONE":
    case "DOUBLEHBONE":
      return "TCP";
    default:
      return protocol;
  }
}

/** Envoys of that age take IPv4 addresses only, and were told of ready endpoints only. */
function instanceOf(service: LegacyService, endpoint: Endpoint): readonly LegacyInstance[] {
  const address = endpoint.addresses.find((candidate) => /^\d+(?:\.\d+){3}$/.test(candidate));
  const servicePort = service.ports.find(({ name }) => name === endpoint.servicePortName);
  if (address === undefined || servicePort === undefined || endpoint.health !== "Healthy") return [];
  const [region = "", zone = ""] = endpoint.locality.label.split("/");
  const availabilityZone = zone === "" ? region : `${region}/${zone}`;
  return [{ service, servicePort, address, port: endpoint.port, labels: endpoint.labels, availabilityZone }];
}

/**
 * Mixer runs beside the control plane, and shows its identity where those connections are mutual TLS.
 * @see docs/how-istio-does-it/legacy-v1.md#mixer
 */
function meshOf({ meshConfig, domain }: World): LegacyMeshConfig {
  const mesh = legacyMeshOf(meshConfig);
  if (mesh.controlPlaneAuthPolicy !== "MUTUAL_TLS") return mesh;
  const account = `ns/${meshConfig.rootNamespace}/sa/istio-mixer-service-account`;
  return { ...mesh, mixerIdentities: [`spiffe://${domain}/${account}`] };
}

/** Objects by kind; an Ingress counts as the ingress rules that it stands for. */
export function legacyConfigsOf(configs: readonly Config[], mesh: LegacyMeshConfig): LegacyConfigs {
  const ingresses = [
    ...specsOf<Ingress>(configs, "networking.k8s.io", "Ingress"),
    ...specsOf<Ingress>(configs, "extensions", "Ingress"),
  ];
  return {
    routeRules: specsOf(configs, legacyGroup, "RouteRule"),
    egressRules: specsOf(configs, legacyGroup, "EgressRule"),
    destinationPolicies: specsOf(configs, legacyGroup, "DestinationPolicy"),
    ingressRules: [
      ...specsOf<IngressRule>(configs, legacyGroup, "IngressRule"),
      ...ingresses.flatMap((ingress) => ingressRulesOf(ingress, mesh)),
    ],
    authenticationPolicies: specsOf(configs, "authentication.istio.io", "Policy"),
    httpApiSpecs: specsOf(configs, legacyGroup, "HTTPAPISpec"),
    httpApiSpecBindings: specsOf(configs, legacyGroup, "HTTPAPISpecBinding"),
    quotaSpecs: specsOf(configs, legacyGroup, "QuotaSpec"),
    quotaSpecBindings: specsOf(configs, legacyGroup, "QuotaSpecBinding"),
  };
}

/** What release 0.7 served besides. */
export function v1alpha3ConfigsOf(configs: readonly Config[]): V1Alpha3Configs {
  const group = "networking.istio.io";
  return {
    virtualServices: specsOf(configs, group, "VirtualService"),
    destinationRules: specsOf(configs, group, "DestinationRule"),
    gateways: specsOf(configs, group, "Gateway"),
    serviceEntries: specsOf(configs, group, "ServiceEntry"),
    endUserSpecs: specsOf(configs, legacyGroup, "EndUserAuthenticationPolicySpec"),
    endUserBindings: specsOf(configs, legacyGroup, "EndUserAuthenticationPolicySpecBinding"),
  };
}

const legacyGroup = "config.istio.io";

function specsOf<Spec>(configs: readonly Config[], group: string, kind: string): readonly Config<Spec>[] {
  // The schema of a kind makes specs of its type; a list of configs cannot say so.
  return configs.filter(({ meta }) => meta.kind === kind && meta.group === group) as readonly Config<Spec>[];
}
