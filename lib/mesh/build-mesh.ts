import type { Stage } from "../config/diagnostic.ts";
import { serviceKey } from "../registry/registry-state.ts";
import type { Endpoint, Service } from "../registry/service.ts";
import { type ConfigsOf, configsByKind } from "./index/configs-by-kind.ts";
import { indexDestinationRules } from "./index/destination-rule-index.ts";
import { indexEnvoyFilters } from "./index/envoy-filter-index.ts";
import { convertIngresses } from "./index/ingress.ts";
import { indexNetworks, type NetworkIndex } from "./index/network-index.ts";
import { indexPeerAuthentications, type PeerAuthenticationIndex } from "./index/peer-authentication.ts";
import { clusterLocalHosts, indexServices, serviceAccountsOf } from "./index/service-index.ts";
import { indexSidecars } from "./index/sidecar-index.ts";
import { indexVirtualServices } from "./index/virtual-service-index.ts";
import { indexPolicies } from "./index/workload-policies.ts";
import {
  indexLegacyPolicies,
  type LegacyPolicyIndex,
  withLegacyPolicies,
} from "./legacy-policies/index-legacy-policies.ts";
import { withLegacyPeers } from "./legacy-policies/legacy-peers.ts";
import { lazily } from "./memo/lazy.ts";
import type { Memo } from "./memo/memo.ts";
import { beginRound, sameList } from "./memo/same.ts";
import type { Mesh, SelectingConfigs, ServiceIndex } from "./mesh.ts";
import type { MeshLookups, ServiceLookups } from "./views/views.ts";
import type { World } from "./world.ts";

const noEndpoints: readonly [] = [];

/**
 * Everything that depends on no single proxy, indexed. What the scopes of namespaces and the gateways of workloads
 * need is worked out by `viewsOf`, once for all proxies that share it.
 *
 * @param memo keeps every index whose sources did not change since the last mesh
 * @see model-push 2
 */
export function buildMesh(world: World, memo: Memo): Stage<Mesh> {
  beginRound(memo);
  const { meshConfig, domain, registry } = world;
  const { rootNamespace } = meshConfig;
  const of = configsByKind(world.configs, memo);
  const allServices = sameList(memo, "services", registry.services);
  const services = memo([allServices, meshConfig], "service index", () =>
    indexServices(allServices, meshConfig.defaultServiceExportTo),
  );
  const ingress = ingressesOf(of, world, services, memo);
  const gateways = mergedByAge(of("Gateway"), ingress.value.gateways, memo, "gateways");
  const writtenVirtualServices = mergedByAge(
    of("VirtualService"),
    ingress.value.virtualServices,
    memo,
    "virtual services",
  );
  const virtualServices = memo([writtenVirtualServices, meshConfig], "virtual service index", () =>
    indexVirtualServices(writtenVirtualServices, meshConfig.defaultVirtualServiceExportTo, memo),
  );
  const destinationRules = memo([of("DestinationRule"), meshConfig], "destination rule index", () =>
    indexDestinationRules(of("DestinationRule"), meshConfig.defaultDestinationRuleExportTo, rootNamespace, memo),
  );
  const sidecars = memo([of("Sidecar"), meshConfig], "sidecar index", () =>
    indexSidecars(of("Sidecar"), rootNamespace),
  );
  const legacy = indexLegacyPolicies(of, services, meshConfig, domain, memo);
  const writtenPeers = memo([of("PeerAuthentication"), meshConfig], "peer authentication index", () =>
    indexPeerAuthentications(of("PeerAuthentication"), rootNamespace),
  );
  const peerAuthentication = withLegacyPeers(
    writtenPeers.value,
    legacy.value?.authentication,
    services.all,
    registry.endpoints,
    memo,
  );
  const selecting = selectingConfigs(of, legacy.value);
  const sources = selecting.policies;
  const policies = memo(Object.values(sources), "policy index", () => indexPolicies(sources));
  const envoyFilters = memo([of("EnvoyFilter"), meshConfig], "envoy filter index", () =>
    indexEnvoyFilters(of("EnvoyFilter"), rootNamespace),
  );
  const networkGateways = sameList(memo, "network gateways", registry.networkGateways);
  const networks = memo([networkGateways, world.meshNetworks], "network index", () =>
    indexNetworks(world.meshNetworks, networkGateways),
  );
  const mesh: Mesh = {
    config: meshConfig,
    domain,
    compat: world.compat,
    registry,
    services,
    virtualServices: virtualServices.value,
    destinationRules: destinationRules.value,
    sidecars: sidecars.value,
    gateways,
    peerAuthentication,
    policies: withLegacyPolicies(policies.value, legacy.value),
    envoyFilters,
    networks,
    lookups: lookupsOf(world, services, peerAuthentication, networks, memo),
    serviceLookups: serviceLookups(world, services, memo),
    proxies: world.proxies,
    selecting,
  };
  const stages = [ingress, virtualServices, destinationRules, sidecars, writtenPeers, legacy, policies];
  return { value: mesh, diagnostics: stages.flatMap((stage) => stage.diagnostics) };
}

function ingressesOf(of: ConfigsOf, { meshConfig, domain }: World, services: ServiceIndex, memo: Memo) {
  const ingresses = of("Ingress");
  const classes = of("IngressClass");
  const from = ingresses.length === 0 ? [ingresses] : [ingresses, classes, meshConfig, services];
  return memo(from, `ingresses|${domain}`, () => convertIngresses(ingresses, classes, meshConfig, domain, services));
}

/** Written and converted objects in one list, oldest first. */
function mergedByAge<T extends { readonly meta: { readonly creationTimestampMs: number; readonly name: string } }>(
  written: readonly T[],
  converted: readonly T[],
  memo: Memo,
  name: string,
): readonly T[] {
  if (converted.length === 0) return written;
  return memo([written, converted], name, () =>
    [...written, ...converted].sort(
      (a, b) =>
        a.meta.creationTimestampMs - b.meta.creationTimestampMs ||
        (a.meta.name === b.meta.name ? 0 : a.meta.name < b.meta.name ? -1 : 1),
    ),
  );
}

function selectingConfigs(of: ConfigsOf, legacy: LegacyPolicyIndex | undefined): SelectingConfigs {
  return {
    policies: {
      authorization: of("AuthorizationPolicy"),
      requestAuthentication: of("RequestAuthentication"),
      telemetry: of("Telemetry"),
      wasmPlugins: of("WasmPlugin"),
      trafficExtensions: of("TrafficExtension"),
    },
    peerAuthentications: of("PeerAuthentication"),
    envoyFilters: of("EnvoyFilter"),
    sidecars: of("Sidecar"),
    destinationRules: of("DestinationRule"),
    legacy,
  };
}

function lookupsOf(
  world: World,
  services: ServiceIndex,
  peerAuthentication: PeerAuthenticationIndex,
  networks: NetworkIndex,
  memo: Memo,
): MeshLookups {
  const { meshConfig, meshNetworks, domain, registry } = world;
  const { endpoints } = registry;
  const general = serviceLookups(world, services, memo);
  return memo([general, endpoints, meshConfig, meshNetworks, peerAuthentication, networks], "lookups", () => {
    const clusterLocal = lazily(() => clusterLocalHosts(meshConfig, domain));
    // Every generator asks for the endpoints of every service: looked up once by its name, by its identity then.
    const known = new Map<Service, readonly Endpoint[]>();
    const endpointsOf = (service: Service): readonly Endpoint[] => {
      let found = known.get(service);
      if (found === undefined) {
        found = endpoints.get(serviceKey(service)) ?? noEndpoints;
        known.set(service, found);
      }
      return found;
    };
    return {
      ...general,
      endpoints: endpointsOf,
      serviceAccounts: (service) => {
        const of = endpointsOf(service);
        const youngest = services.youngest(service);
        return memo([youngest, of, meshConfig], "accounts", () =>
          serviceAccountsOf(youngest, of, meshConfig.trustDomainAliases),
        );
      },
      isClusterLocal: (service) => clusterLocal()(service.hostname),
      authentication: peerAuthentication,
      serviceMtlsMode: peerAuthentication.serviceMode,
      workloadMtlsMode: peerAuthentication.workloadMode,
      networkGateways: networks.gateways,
      gatewaysOfNetwork: networks.gatewaysOf,
    };
  });
}

function serviceLookups(
  { meshConfig, meshNetworks, domain }: World,
  services: ServiceIndex,
  memo: Memo,
): ServiceLookups {
  return memo([services, meshConfig, meshNetworks], `service lookups|${domain}`, () => ({
    mesh: meshConfig,
    domain,
    meshNetworks,
    serviceByHostname: services.visibleService,
    servicesOfHost: (hostname) => [...(services.byHostname.get(hostname)?.values() ?? [])],
    services,
  }));
}
