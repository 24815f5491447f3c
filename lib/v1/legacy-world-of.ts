import type { Config } from "../config/config.ts";
import type { Ingress } from "../config/kinds/ingress.ts";
import type { IngressRule } from "../config/kinds/legacy/ingress-rule.ts";
import { keepList } from "../incremental/keep-identity.ts";
import { type Memo, noMemo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { unspecifiedAddress } from "../mesh/hosts/service-address.ts";
import type { World } from "../mesh/world.ts";
import { type RegistryState, serviceKey } from "../registry/changes/registry-state.ts";
import type { Endpoint, Protocol, Service, ServicePort } from "../registry/service.ts";
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
import { ingressRulesOf } from "./routes/kubernetes-ingress.ts";

/**
 * The part of a world that an Envoy of the v1 age is told of: what registries know, without ServiceEntries, and objects of
 * the kinds that the world's legacy release served. Everything else does not exist for it, and leaves what this gives the same object.
 */
export function legacyWorldOf(world: World, memo: Memo = noMemo): LegacyWorld {
  const { registry, domain, meshConfig, configs } = world;
  const mesh = legacySettings(memo, { meshConfig, domain });
  const { services, endpoints } = registry;
  const objects = objectsOf(configs, memo);
  return legacyWorld(memo, {
    running: running(memo, { services, endpoints }),
    mesh,
    domain,
    configs: legacyObjects(memo, { ...objects, mesh }),
    v1alpha3: world.legacyApi === "0.7" ? v1alpha3Objects(memo, v1alpha3Lists(configs, memo)) : undefined,
  });
}

interface Running {
  readonly services: readonly LegacyService[];
  readonly instances: readonly LegacyInstance[];
}

const running = query(
  "services and instances of the v1 API",
  ({ services: all, endpoints }: Pick<RegistryState, "services" | "endpoints">, memo: Memo): Running => {
    const known = all.filter(isKnown);
    const services = known.map((service) => legacyService(memo, { service }));
    const instances = services.flatMap((service, at) => {
      const here = known[at] && endpoints.get(serviceKey(known[at]));
      return here === undefined ? [] : instancesOf(memo, { service, endpoints: here });
    });
    return { services: keepList(memo, "v1 services", services), instances };
  },
);

const legacyService = query(
  "service of the v1 API",
  ({ service }: { readonly service: Service }): LegacyService => serviceOf(service),
);

interface Behind {
  readonly service: LegacyService;
  readonly endpoints: readonly Endpoint[];
}

const instancesOf = query(
  "instances of a service of the v1 API",
  ({ service, endpoints }: Behind): readonly LegacyInstance[] =>
    endpoints.flatMap((endpoint) => instanceOf(service, endpoint)),
);

interface WorldParts extends Pick<LegacyWorld, "mesh" | "domain" | "configs"> {
  readonly running: Running;
  readonly v1alpha3: V1Alpha3Configs | undefined;
}

const legacyWorld = query(
  "world of the v1 API",
  ({ running: { services, instances }, mesh, domain, configs, v1alpha3 }: WorldParts): LegacyWorld => ({
    services,
    instances,
    managementPorts: noPorts,
    mesh,
    domain,
    configs,
    ...(v1alpha3 === undefined ? {} : { v1alpha3 }),
  }),
);

const noPorts: LegacyWorld["managementPorts"] = [];

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
const legacySettings = query(
  "settings of the v1 API",
  ({ meshConfig, domain }: Pick<World, "meshConfig" | "domain">): LegacyMeshConfig => {
    const mesh = legacyMeshOf(meshConfig);
    if (mesh.controlPlaneAuthPolicy !== "MUTUAL_TLS") return mesh;
    const account = `ns/${meshConfig.rootNamespace}/sa/istio-mixer-service-account`;
    return { ...mesh, mixerIdentities: [`spiffe://${domain}/${account}`] };
  },
);

/** Objects by kind; an Ingress counts as the ingress rules that it stands for. */
export const legacyConfigsOf = (configs: readonly Config[], mesh: LegacyMeshConfig): LegacyConfigs =>
  legacyObjects(noMemo, { ...objectsOf(configs, noMemo), mesh });

interface WrittenObjects extends LegacyConfigs {
  readonly ingresses: readonly Config<Ingress>[];
}

/** What is written; a list is the same as before where its objects are. */
function objectsOf(configs: readonly Config[], memo: Memo): WrittenObjects {
  const of = <Spec>(group: string, kind: string) => specsOf<Spec>(configs, group, kind, memo);
  const networking = of<Ingress>("networking.k8s.io", "Ingress");
  const extensions = of<Ingress>("extensions", "Ingress");
  return {
    routeRules: of(legacyGroup, "RouteRule"),
    egressRules: of(legacyGroup, "EgressRule"),
    destinationPolicies: of(legacyGroup, "DestinationPolicy"),
    ingressRules: of<IngressRule>(legacyGroup, "IngressRule"),
    ingresses: keepList(memo, "v1 ingresses", [...networking, ...extensions]),
    authenticationPolicies: of("authentication.istio.io", "Policy"),
    httpApiSpecs: of(legacyGroup, "HTTPAPISpec"),
    httpApiSpecBindings: of(legacyGroup, "HTTPAPISpecBinding"),
    quotaSpecs: of(legacyGroup, "QuotaSpec"),
    quotaSpecBindings: of(legacyGroup, "QuotaSpecBinding"),
  };
}

const legacyObjects = query(
  "objects of the v1 API",
  ({ ingresses, mesh, ...written }: WrittenObjects & { readonly mesh: LegacyMeshConfig }): LegacyConfigs => ({
    ...written,
    ingressRules: [...written.ingressRules, ...ingresses.flatMap((ingress) => ingressRulesOf(ingress, mesh))],
  }),
);

/** What release 0.7 served besides. */
export const v1alpha3ConfigsOf = (configs: readonly Config[]): V1Alpha3Configs => v1alpha3Lists(configs, noMemo);

function v1alpha3Lists(configs: readonly Config[], memo: Memo): V1Alpha3Configs {
  const of = <Spec>(group: string, kind: string) => specsOf<Spec>(configs, group, kind, memo);
  const group = "networking.istio.io";
  return {
    virtualServices: of(group, "VirtualService"),
    destinationRules: of(group, "DestinationRule"),
    gateways: of(group, "Gateway"),
    serviceEntries: of(group, "ServiceEntry"),
    endUserSpecs: of(legacyGroup, "EndUserAuthenticationPolicySpec"),
    endUserBindings: of(legacyGroup, "EndUserAuthenticationPolicySpecBinding"),
  };
}

const v1alpha3Objects = query(
  "objects of the v1 API of release 0.7",
  (lists: V1Alpha3Configs): V1Alpha3Configs => lists,
);

const legacyGroup = "config.istio.io";

function specsOf<Spec>(configs: readonly Config[], group: string, kind: string, memo: Memo): readonly Config<Spec>[] {
  // The schema of a kind makes specs of its type; a list of configs cannot say so.
  const list = configs.filter(({ meta }) => meta.kind === kind && meta.group === group) as readonly Config<Spec>[];
  return keepList(memo, `v1 configs|${group}|${kind}`, list);
}
