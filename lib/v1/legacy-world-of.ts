import type { Config } from "../config/config.ts";
import { durationMs } from "../config/duration.ts";
import type { AuthenticationPolicy } from "../config/kinds/authentication-policy.ts";
import type { DestinationPolicy } from "../config/kinds/destination-policy.ts";
import type { EgressRule } from "../config/kinds/egress-rule.ts";
import type { Ingress } from "../config/kinds/ingress.ts";
import type { IngressRule } from "../config/kinds/ingress-rule.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { HTTPAPISpec, HTTPAPISpecBinding, QuotaSpec, QuotaSpecBinding } from "../config/kinds/mixer-client.ts";
import type { RouteRule } from "../config/kinds/route-rule.ts";
import { unspecifiedAddress } from "../mesh/service-address.ts";
import type { World } from "../mesh/world.ts";
import { serviceKey } from "../registry/registry-state.ts";
import type { Endpoint, Protocol, Service, ServicePort } from "../registry/service.ts";
import { ingressRulesOf } from "./kubernetes-ingress.ts";
import {
  defaultLegacyMeshConfig,
  type LegacyConfigs,
  type LegacyInstance,
  type LegacyMeshConfig,
  type LegacyPort,
  type LegacyService,
  type LegacyWorld,
} from "./legacy-world.ts";

/**
 * The part of a world that an Envoy of the v1 age is told of: what registries know, without ServiceEntries, and objects of
 * the kinds of that age. Everything else does not exist for it.
 */
export function legacyWorldOf(world: World): LegacyWorld {
  const { registry, domain } = world;
  const mesh = meshOf(world.meshConfig);
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
    configs: configsOf(world.configs, mesh),
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
    ports: service.ports.map(portOf),
  };
}

function portOf({ name, port, protocol }: ServicePort): LegacyPort {
  return { name, port, protocol: protocolOf(protocol), authenticationPolicy: "INHERIT" };
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

function meshOf(mesh: MeshConfig): LegacyMeshConfig {
  const { ingressControllerMode: mode } = mesh;
  return {
    ...defaultLegacyMeshConfig,
    proxyListenPort: mesh.proxyListenPort,
    proxyHttpPort: mesh.proxyHttpPort,
    connectTimeoutMs: Math.trunc(durationMs(mesh.connectTimeout)),
    ingressClass: mesh.ingressClass,
    ingressService: mesh.ingressService,
    ingressControllerMode: mode === "UNSPECIFIED" ? "OFF" : mode,
    enableTracing: mesh.enableTracing,
    accessLogFile: mesh.accessLogFile,
  };
}

function configsOf(configs: readonly Config[], mesh: LegacyMeshConfig): LegacyConfigs {
  const of = <Spec>(group: string, kind: string): readonly Config<Spec>[] =>
    // The schema of a kind makes specs of its type; a list of configs cannot say so.
    configs.filter(({ meta }) => meta.kind === kind && meta.group === group) as readonly Config<Spec>[];
  const legacy = "config.istio.io";
  const ingresses = [...of<Ingress>("networking.k8s.io", "Ingress"), ...of<Ingress>("extensions", "Ingress")];
  return {
    routeRules: of<RouteRule>(legacy, "RouteRule"),
    egressRules: of<EgressRule>(legacy, "EgressRule"),
    destinationPolicies: of<DestinationPolicy>(legacy, "DestinationPolicy"),
    ingressRules: [
      ...of<IngressRule>(legacy, "IngressRule"),
      ...ingresses.flatMap((ingress) => ingressRulesOf(ingress, mesh)),
    ],
    authenticationPolicies: of<AuthenticationPolicy>("authentication.istio.io", "Policy"),
    httpApiSpecs: of<HTTPAPISpec>(legacy, "HTTPAPISpec"),
    httpApiSpecBindings: of<HTTPAPISpecBinding>(legacy, "HTTPAPISpecBinding"),
    quotaSpecs: of<QuotaSpec>(legacy, "QuotaSpec"),
    quotaSpecBindings: of<QuotaSpecBinding>(legacy, "QuotaSpecBinding"),
  };
}
