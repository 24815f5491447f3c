import type { Stage } from "../base/diagnostic.ts";
import { newestRelease } from "../config/compat/compat-settings.ts";
import { byAge, type Config } from "../config/config.ts";
import type { Ingress, IngressClass } from "../config/kinds/ingress.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import { beginRevision } from "../incremental/cache-entries.ts";
import { keepList } from "../incremental/keep-identity.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { NetworkGateway } from "../registry/changes/registry-state.ts";
import { forms } from "./forms.ts";
import { convertGatewayApi } from "./gateway-api/convert.ts";
import { defaultGatewayApi } from "./gateway-api/sources.ts";
import { gatewayApiStatuses } from "./gateway-api/statuses.ts";
import { type ConfigsOf, configsByKind } from "./index/configs-by-kind.ts";
import { destinationRuleIndex } from "./index/destination-rule-index.ts";
import { entryLimits } from "./index/entry-visibility.ts";
import { envoyFilterIndex } from "./index/envoy-filter-index.ts";
import { type ConvertedIngresses, convertIngresses } from "./index/ingress.ts";
import { meshLookups, serviceLookups } from "./index/mesh-lookups.ts";
import { gatewaysBetweenNetworks, networkIndex } from "./index/network-index.ts";
import { peerAuthenticationIndex } from "./index/peer-authentication.ts";
import { type ServiceIndex, serviceIndex } from "./index/service-index.ts";
import { sidecarIndex } from "./index/sidecar-index.ts";
import { unresolvedGateways } from "./index/unresolved-gateways.ts";
import { virtualServiceIndex } from "./index/virtual-service-index.ts";
import { policyIndex } from "./index/workload-policies.ts";
import { indexLegacyPolicies, withLegacyPolicies } from "./legacy-policies/index-legacy-policies.ts";
import { withLegacyPeers } from "./legacy-policies/legacy-peers.ts";
import type { Mesh } from "./mesh.ts";
import { meshSettings } from "./mesh-settings.ts";
import { releaseRules } from "./release-rules.ts";
import { plainPeers, withoutCertificates } from "./without-certificates.ts";
import type { World } from "./world.ts";

/**
 * Everything that depends on no single proxy, indexed. What the scopes of namespaces and the gateways of workloads
 * need is worked out by `viewsOf`, once for all proxies that share it.
 *
 * @param memo keeps every index whose sources did not change since the last mesh
 * @see docs/architecture.md
 */
export function buildMesh(world: World, memo: Memo): Stage<Mesh> {
  beginRevision(memo);
  const { meshNetworks, domain, registry, release = newestRelease, switches = {} } = world;
  const rules = releaseRules(memo, { release, switches });
  const meshConfig = meshSettings(memo, { meshConfig: world.meshConfig, rules });
  const { rootNamespace } = meshConfig;
  const of = configsByKind(world.configs, memo);
  const services = serviceIndex(memo, {
    services: keepList(memo, "services", registry.services),
    exportDefault: meshConfig.defaultServiceExportTo,
    limits: entryLimits({ setting: meshConfig.serviceEntryVisibility, namespaces: registry.namespaces }, memo),
  });
  const ingress = ingressesOf(of, meshConfig, domain, services, memo);
  const { gatewayApi: api = defaultGatewayApi } = world;
  const gatewayApi = convertGatewayApi(
    of,
    { api, services, namespaces: registry.namespaces, domain, rules, form: forms[world.compat] },
    memo,
  );
  const destinations = withConverted(memo, of("DestinationRule"), gatewayApi.destinationRules);
  const servers = byAgeTogether(memo, {
    written: of("Gateway"),
    converted: [...ingress.value.gateways, ...gatewayApi.gateways],
  });
  const isPlain = world.certificates === "none";
  const { value: written, diagnostics: plain } = isPlain
    ? withoutCertificates(
        { destinationRules: destinations, gateways: servers, peerAuthentications: of("PeerAuthentication") },
        memo,
      )
    : { value: { destinationRules: destinations, gateways: servers }, diagnostics: [] };
  const { gateways } = written;
  const virtualServices = virtualServiceIndex(memo, {
    configs: byAgeTogether(memo, {
      written: of("VirtualService"),
      converted: [...ingress.value.virtualServices, ...gatewayApi.virtualServices],
    }),
    exportDefault: meshConfig.defaultVirtualServiceExportTo,
  });
  const destinationRules = destinationRuleIndex(memo, {
    configs: written.destinationRules,
    exportDefault: meshConfig.defaultDestinationRuleExportTo,
    rootNamespace,
    fillsFromPolicies: rules.fillsRulesFromBackendPolicies,
  });
  const sidecars = sidecarIndex(memo, { configs: of("Sidecar"), rootNamespace });
  const legacy = indexLegacyPolicies(of, services, meshConfig, domain, memo);
  const writtenPeers = peerAuthenticationIndex(memo, { configs: of("PeerAuthentication"), rootNamespace });
  const peerAuthentication = isPlain
    ? plainPeers
    : withLegacyPeers(writtenPeers.value, legacy.value?.authentication, services.all, registry.endpoints, memo);
  const policies = policyIndex(memo, {
    authorization: of("AuthorizationPolicy"),
    requestAuthentication: of("RequestAuthentication"),
    telemetry: of("Telemetry"),
    wasmPlugins: of("WasmPlugin"),
    trafficExtensions: of("TrafficExtension"),
  });
  const envoyFilters = envoyFilterIndex(memo, {
    configs: of("EnvoyFilter"),
    rootNamespace,
    boundsProxyVersion: rules.boundsProxyVersion,
  });
  const networks = networkIndex(memo, {
    gateways: gatewaysBetweenNetworks(memo, {
      meshNetworks,
      found: keepList(memo, "network gateways", foundGateways(world)),
    }),
    hostAddresses: world.hostAddresses ?? [],
  });
  const general = serviceLookups(memo, { services, meshConfig, meshNetworks, domain });
  const { endpoints } = registry;
  const mesh: Mesh = {
    config: meshConfig,
    domain,
    form: forms[world.compat],
    proxyBuild: world.proxyBuild ?? "auto",
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
    lookups: meshLookups(memo, {
      general,
      services,
      endpoints,
      meshConfig,
      domain,
      peerAuthentication,
      networks,
    }),
    serviceLookups: general,
    statuses: () =>
      gatewayApiStatuses({ parts: gatewayApi.parts, settings: api.settings, services, endpoints, rules }, memo),
  };
  const stages = [ingress, virtualServices, destinationRules, sidecars, writtenPeers, legacy, policies];
  const unresolved = unresolvedGateways(networks, {
    services: registry.services,
    gateways: of("Gateway.gateway.networking.k8s.io"),
  });
  return { value: mesh, diagnostics: [...plain, ...stages.flatMap((stage) => stage.diagnostics), ...unresolved] };
}

/** Gateways between networks that registries found, and that Gateways stand for. */
export const foundGateways = ({
  registry,
  declaredGateways = [],
}: Pick<World, "registry" | "declaredGateways">): readonly NetworkGateway[] =>
  declaredGateways.length === 0 ? registry.networkGateways : [...registry.networkGateways, ...declaredGateways];

interface IngressInputs {
  readonly ingresses: readonly Config<Ingress>[];
  readonly classes: readonly Config<IngressClass>[];
  readonly meshConfig: MeshConfig;
  readonly domain: string;
  readonly services: ServiceIndex;
}

const convertedIngresses = query(
  "converted ingresses",
  ({ ingresses, classes, meshConfig, domain, services }: IngressInputs) =>
    convertIngresses(ingresses, classes, meshConfig, domain, services),
);

const noIngresses: Stage<ConvertedIngresses> = { value: { gateways: [], virtualServices: [] }, diagnostics: [] };

/** Where there are none, a change of a service is nothing to them. */
function ingressesOf(
  of: ConfigsOf,
  meshConfig: MeshConfig,
  domain: string,
  services: ServiceIndex,
  memo: Memo,
): Stage<ConvertedIngresses> {
  const ingresses = of("Ingress");
  if (ingresses.length === 0) return noIngresses;
  return convertedIngresses(memo, { ingresses, classes: of("IngressClass"), meshConfig, domain, services });
}

/** Written and converted objects in one list, in any order. */
function withConverted<Spec>(
  memo: Memo,
  written: readonly Config<Spec>[],
  converted: readonly Config<Spec>[],
): readonly Config<Spec>[] {
  if (converted.length === 0) return written;
  return keepList(memo, `all with converted ${converted[0]?.meta.kind}`, [...written, ...converted]);
}

/** Written and converted objects in one list, oldest first. */
function byAgeTogether<Spec>(
  memo: Memo,
  { written, converted }: { readonly written: readonly Config<Spec>[]; readonly converted: readonly Config<Spec>[] },
): readonly Config<Spec>[] {
  if (converted.length === 0) return written;
  const sorted = [...written, ...converted].sort(byAge);
  return keepList(memo, `with converted ${written[0]?.meta.kind ?? converted[0]?.meta.kind}`, sorted);
}
