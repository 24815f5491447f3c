import type { Stage } from "../../base/diagnostic.ts";
import type { ProxyBuildSetting } from "../../base/proxy-build.ts";
import type { Release } from "../../config/compat/compat-settings.ts";
import type { Switches } from "../../config/compat/switches.ts";
import type { SecurityFailure } from "../../config/fail-closed/closed-object.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { defaultGatewayApiSettings, type GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import { CacheEntries } from "../../incremental/cache-entries.ts";
import { internValue, keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { foundGateways } from "../../mesh/build-mesh.ts";
import type { FormName } from "../../mesh/forms.ts";
import { withBackendEntries } from "../../mesh/gateway-api/backends/backend-entries.ts";
import { type Credentials, credentialsOf, isCredential, noCredentials } from "../../mesh/gateway-api/credentials.ts";
import { gatewayWorkloads, type SelectedWorkloads } from "../../mesh/gateway-api/gateway-workloads.ts";
import { gatewaysOfNetworks } from "../../mesh/gateway-api/gateways-of-networks.ts";
import { configsByKind } from "../../mesh/index/configs-by-kind.ts";
import { withinNamespaceLimits } from "../../mesh/index/namespace-limits.ts";
import { gatewaysBetweenNetworks } from "../../mesh/index/network-index.ts";
import { type EnvoyNode, proxyOf } from "../../mesh/proxy/proxy-from-node.ts";
import { proxyOfName } from "../../mesh/proxy/proxy-of-name.ts";
import type { WorkloadProxy } from "../../mesh/proxy/proxy-of-workload.ts";
import type { CertificateSource, LegacyRelease, World } from "../../mesh/world.ts";
import { createRegistryBuilder, type RegistryBuilder } from "../../registry/build-registry.ts";
import type { RegistryContent } from "../../registry/changes/registry-content.ts";
import { type ConsulListing, consulContent } from "../../registry/consul/convert.ts";
import type { ClusterInput } from "../../registry/registry-input.ts";
import type { Service } from "../../registry/service.ts";
import { withAcceptedTypes } from "../encode/accepted-types.ts";
import { withRegistered } from "../registered-entries.ts";
import { withAllocatedAddresses } from "../resolved/allocated-addresses.ts";
import { lookupsOf } from "../resolved/lookups.ts";
import { withResolvedKeys } from "../resolved/resolved-keys.ts";
import { withResolvedModules } from "../resolved/wanted-modules.ts";
import { holdsBundle, trustBundlesOf } from "../trust-bundles.ts";
import { workloadProxies } from "../workload-proxies.ts";
import { withClosed } from "./closed-world.ts";

export interface WorldOptions {
  /** Domain suffix of Kubernetes services. */
  readonly domain: string;
  /** Id of the cluster that the folder's own Kubernetes objects belong to. */
  readonly clusterId: string;
  readonly compat: FormName;
  /** Which release of Istio the mesh is answered like, whatever the folder says; absent: what it says, and the newest where it says nothing. */
  readonly release?: Release;
  /** Istio's switches, in place of those of the folder; absent: those. */
  readonly switches?: Switches;
  /** Which proxies get the filters that only Istio's own has, whatever the folder says; absent: what it says. */
  readonly proxyBuild?: ProxyBuildSetting;
  /** Make the answers of the v1 API as well, as this release gave them; absent: not. */
  readonly legacyApi?: LegacyRelease;
  /** Store protobuf's binary forms beside the texts, for Connect and gRPC; absent: not. */
  readonly binaryForms?: boolean;
  /** Where proxies get their certificates; absent: from an agent that speaks SDS. */
  readonly certificates?: CertificateSource;
  /** How long Envoys wait between polls, as their bootstraps say too; absent: a second. */
  readonly pollDelayMs?: number;
  /** Switches of the Gateway API, over those of the folder; what neither says is as usual. */
  readonly gatewayApi?: Partial<GatewayApiSettings>;
  /** What is done about refused security objects; absent: requests to the workloads that they select are denied. */
  readonly securityFailure?: SecurityFailure;
  /** Sources in order, as the deployment names them: the settings of the first count. Absent: it names none. */
  readonly sources?: readonly string[];
  /** Of proxies besides those of the workloads. */
  readonly nodes: readonly EnvoyNode[];
}

const proxyBuildIn = (proxyBuild: ProxyBuildSetting | undefined) => (proxyBuild === undefined ? {} : { proxyBuild });

export const defaultWorldOptions: WorldOptions = {
  domain: "cluster.local",
  clusterId: "Kubernetes",
  compat: "shared",
  nodes: [],
};

const proxiesIn = query("proxies of a census", ({ ofWorkloads }: { readonly ofWorkloads: readonly WorkloadProxy[] }) =>
  ofWorkloads.map(({ proxy }) => proxy),
);

/** Consul's services; what did not change since the content before keeps its identity. */
function consulOf(
  listings: readonly ConsulListing[],
  trustDomain: string,
  memo: Memo,
): Stage<readonly RegistryContent[]> {
  if (listings.length === 0) return { value: [], diagnostics: [] };
  const same = keepList(memo, "Consul's services", listings);
  const last = consulLast.last(memo, "");
  const stage =
    last !== undefined && last.listings === same && last.trustDomain === trustDomain
      ? last.stage
      : consulContent(same, { trustDomain, release: "1.1" }, last?.stage.value);
  consulLast.keep(memo, "", { listings: same, trustDomain, stage });
  return { value: [stage.value], diagnostics: stage.diagnostics };
}

const consulLast = new CacheEntries<ConsulMade>("Consul");
const registryBuilder = new CacheEntries<RegistryBuilder>("registry builder");

interface ConsulMade {
  readonly listings: readonly ConsulListing[];
  readonly trustDomain: string;
  readonly stage: Stage<RegistryContent>;
}

/**
 * The world that a source's objects describe: registries converted, proxies counted.
 *
 * @param consul services that stand beside them
 */
export function worldOf(
  loaded: LoadedDirectory,
  options: WorldOptions,
  memo: Memo,
  consul: readonly ConsulListing[] = [],
): Stage<World> {
  const { meshConfig, meshNetworks } = loaded;
  const closed = withClosed(loaded, options.securityFailure ?? "close", memo);
  const joined = withRegistered(closed.configs, memo);
  const within = withinNamespaceLimits(joined.configs, memo);
  const accepting =
    loaded.settings.acceptUnknownTypes === true ? withAcceptedTypes(memo, { configs: within.value }) : within.value;
  const { jwks = [], addresses = [], hosts: hostAddresses = [], modules = [] } = loaded.settings.resolved ?? {};
  const withFound = withResolvedModules(withResolvedKeys(accepting, jwks, memo), modules, memo);
  const {
    domain,
    clusterId,
    compat,
    nodes,
    legacyApi,
    binaryForms = false,
    certificates = "sds",
    pollDelayMs,
    gatewayApi,
  } = options;
  const { release = loaded.settings.compat?.release, switches = loaded.settings.compat?.switches } = options;
  const { PILOT_ENABLE_ALPHA_GATEWAY_API: alphaKinds = defaultGatewayApiSettings.alphaKinds } = switches ?? {};
  const settings = { ...defaultGatewayApiSettings, alphaKinds, ...loaded.settings.gatewayApi, ...gatewayApi };
  const withBackends = withBackendEntries(withFound, { isRead: settings.alphaKinds, domain }, memo);
  const configs = withAllocatedAddresses(withBackends, addresses, memo);
  const clusters = clustersOf(loaded, clusterId);
  const build = registryBuilder.last(memo, "") ?? createRegistryBuilder();
  registryBuilder.keep(memo, "", build);
  const others = consulOf(consul, meshConfig.trustDomain, memo);
  const registry = build({ clusters, configs, others: others.value, meshConfig, meshNetworks, domain });
  const ofWorkloads = workloadProxies(
    registry.value.workloads,
    { configs, meshConfig, domain, gatewayWorkloads: gatewaysIn(configs, registry.value.services, settings, memo) },
    memo,
  );
  const besides = [
    ...nodes.map((node) => proxyOf(node, registry.value, meshConfig)),
    ...(loaded.settings.proxies ?? []).map((named) => proxyOfName(named, registry.value, meshConfig)),
  ];
  const counted = proxiesIn(memo, { ofWorkloads: ofWorkloads.value });
  const told = besides.flatMap(({ value }) => (value === undefined ? [] : internValue(memo, value)));
  const proxies = besides.length === 0 ? counted : keepList(memo, "proxies of a world", [...counted, ...told]);
  const { services } = registry.value;
  const { rootNamespace } = meshConfig;
  const declaredGateways = gatewaysOfNetworks(memo, {
    gateways: configsByKind(configs, memo)("Gateway.gateway.networking.k8s.io"),
    services,
    clusterId,
  });
  const found = keepList(memo, "network gateways", foundGateways({ registry: registry.value, declaredGateways }));
  const gateways = gatewaysBetweenNetworks(memo, { meshNetworks, found });
  const ofBuild = proxyBuildIn(options.proxyBuild ?? loaded.settings.proxyBuild);
  const lookups = lookupsOf(
    { configs: accepting, services, proxies, rootNamespace, gateways, modules, ...ofBuild },
    memo,
  );
  const holders = loaded.objects.filter(holdsBundle);
  const trustBundles =
    holders.length === 0 ? {} : trustBundlesOf(memo, { objects: keepList(memo, "trust bundles", holders) });
  return {
    value: {
      meshConfig,
      meshNetworks,
      domain,
      configs,
      registry: registry.value,
      proxies,
      compat,
      ...(release === undefined ? {} : { release }),
      ...(switches === undefined ? {} : { switches }),
      ...ofBuild,
      ...(legacyApi === undefined ? {} : { legacyApi }),
      binaryForms,
      certificates,
      ...(pollDelayMs === undefined ? {} : { pollDelayMs }),
      gatewayApi: { settings, credentials: credentialsIn(loaded, memo) },
      ...(declaredGateways.length === 0 ? {} : { declaredGateways }),
      ...(hostAddresses.length === 0 ? {} : { hostAddresses }),
      ...(Object.keys(trustBundles).length === 0 ? {} : { trustBundles }),
      ...(lookups.value === undefined ? {} : { lookups: lookups.value }),
    },
    diagnostics: [closed, joined, within, others, registry, ofWorkloads, lookups, ...besides].flatMap(
      ({ diagnostics }) => diagnostics,
    ),
  };
}

/** Workloads that are gateways because of the Gateway API; undefined where nobody uses it. */
export function gatewaysIn(
  configs: LoadedDirectory["configs"],
  services: readonly Service[],
  settings: GatewayApiSettings,
  memo: Memo,
): readonly SelectedWorkloads[] | undefined {
  const of = configsByKind(configs, memo);
  const gateways = of("Gateway.gateway.networking.k8s.io");
  if (gateways.length === 0) return undefined;
  const classes = of("GatewayClass.gateway.networking.k8s.io");
  return gatewayWorkloads(memo, { gateways, classes, services, settings });
}

/** Looked for only where something may ask for them. */
function credentialsIn({ objects, configs }: LoadedDirectory, memo: Memo): Credentials {
  const of = configsByKind(configs, memo);
  const asking = [of("Gateway.gateway.networking.k8s.io"), of("BackendTLSPolicy.gateway.networking.k8s.io")];
  if (asking.every(({ length }) => length === 0)) return noCredentials;
  return credentialsOf(memo, { objects: keepList(memo, "credentials", objects.filter(isCredential)) });
}

/** The primary one first; files of one cluster together. */
export function clustersOf(
  { objects, clusters, settings }: LoadedDirectory,
  clusterId: string,
): readonly ClusterInput[] {
  const own = { id: clusterId, objects, statedEndpoints: settings.endpoints };
  const byId = Map.groupBy(clusters, ({ id }) => id);
  return [own, ...[...byId].map(([id, parts]) => ({ id, objects: parts.flatMap((part) => part.objects) }))];
}
