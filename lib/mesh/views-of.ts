/**
 * What applies to a proxy, selected and reduced to one view per type of resource. A view's key names what was selected,
 * never what it was selected by: proxies with equal keys share the view, and so every answer made from it.
 * @see xds-protocol part H
 */
import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../config/diagnostic.ts";
import { classProxyKey, classProxyOf } from "./class-proxy.ts";
import { destinationRuleFor } from "./destination-rule-index.ts";
import { patchTargets } from "./envoy-filter-index.ts";
import { gatewayViewOf, type SelectedGateway } from "./gateway-view.ts";
import { inboundViewOf } from "./inbound-view.ts";
import { listenerOptionsKey, listenerOptionsOf, ownAddressesFor } from "./listener-options.ts";
import type { Memo } from "./memo.ts";
import type { Mesh, MeshDestinationRule, SidecarScope } from "./mesh.ts";
import { perspectiveKey, perspectiveOf } from "./perspective.ts";
import type { Proxy } from "./proxy.ts";
import { gatewayScope, sidecarScope } from "./sidecar-scope.ts";
import { sourceLabelsOf } from "./source-labels.ts";
import { tracingViewOf } from "./tracing-view.ts";
import type {
  ClusterView,
  EndpointView,
  EnvoyFilterPatches,
  ListenerView,
  OutboundView,
  RouteView,
  SelectedPatch,
  WorkloadPolicies,
} from "./views.ts";

export interface ProxyViews {
  readonly clusters: ClusterView;
  readonly endpoints: EndpointView;
  readonly listeners: ListenerView;
  readonly routes: RouteView;
  /** What selecting found wrong: servers of merged Gateways that clash. */
  readonly diagnostics: readonly Diagnostic[];
}

/** @param memo shares scopes, merged gateways and whole views between the proxies of one mesh */
export function viewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): ProxyViews {
  const scope = scopeOf(mesh, proxy, memo);
  const workload = { namespace: proxy.namespace, labels: proxy.labels, rootNamespace: mesh.config.rootNamespace };
  const patches = mesh.envoyFilters({
    ...workload,
    type: proxy.type,
    istioVersion: proxy.metadata.istioVersion,
    metadata: proxy.metadata.raw,
  });
  const classProxy = classProxyOf(mesh, proxy);
  const rules = selectedRules(scope, proxy, memo);
  const destinationRule = (service: { readonly hostname: string }): MeshDestinationRule | undefined =>
    rules.of(service.hostname);
  const base = `${classProxyKey(classProxy, mesh)}|${scope.id}|${rules.key}`;
  const outbound = (key: string, targets: ReadonlySet<string> | undefined): OutboundView => ({
    key,
    proxy: classProxy,
    lookups: mesh.lookups,
    scope,
    destinationRule,
    envoyFilters: targets === undefined ? noPatches : selectedPatches(patches, targets),
  });
  const targets = mesh.registry.serviceTargets(proxy);
  const selectedGateway = proxy.type === "router" ? gatewayViewOf(mesh, proxy, targets, memo) : undefined;
  const gatewayKey = selectedGateway?.key ?? "";
  const perspective = perspectiveOf(mesh, proxy, scope, memo);
  const inbound = inboundViewOf(mesh, proxy, scope, targets);
  const policies = mesh.policies(workload);
  const sourceLabels = sourceLabelsOf(scope, selectedGateway?.view, proxy.labels, memo);
  const sourceKey = JSON.stringify(sourceLabels);
  const tracing = tracingViewOf(mesh, proxy, policies);
  const options = listenerOptionsOf(proxy);
  const ownAddresses = ownAddressesFor(mesh, proxy, scope, memo);
  const filesKey = JSON.stringify(proxy.metadata.tlsClientFiles);

  const share = <V extends OutboundView>(
    type: string,
    key: string,
    kinds: ReadonlySet<string> | undefined,
    rest: Omit<V, keyof OutboundView>,
  ) => memo([mesh], `${type}|${key}`, () => ({ ...outbound(key, kinds), ...rest }));

  const clusterPatches = patchesKey(patches, patchTargets.clusters);
  const clusters: ClusterView = share<ClusterView>(
    "clusters",
    [base, clusterPatches, perspectiveKey(perspective), inbound.clusterKey, gatewayKey, filesKey].join("|"),
    patchTargets.clusters,
    {
      perspective,
      inbound: inbound.view,
      gateway: selectedGateway?.view.merged,
      tlsClientFiles: proxy.metadata.tlsClientFiles,
    },
  );
  const endpoints: EndpointView = share<EndpointView>(
    "endpoints",
    [base, perspectiveKey(perspective)].join("|"),
    undefined,
    {
      perspective,
    },
  );
  const routes: RouteView = share<RouteView>(
    "routes",
    [base, patchesKey(patches, patchTargets.routes), sourceKey, gatewayKey, options.httpProxyPort].join("|"),
    patchTargets.routes,
    { sourceLabels, gateway: selectedGateway?.view, httpProxyPort: options.httpProxyPort },
  );
  const listeners: ListenerView = share<ListenerView>(
    "listeners",
    [
      base,
      patchesKey(patches, patchTargets.listeners),
      inbound.listenerKey,
      gatewayKey,
      sourceKey,
      policiesKey(policies),
      JSON.stringify(tracing),
      listenerOptionsKey(options),
      ownAddresses.join(","),
    ].join("|"),
    patchTargets.listeners,
    { inbound: inbound.view, gateway: selectedGateway?.view, sourceLabels, policies, tracing, options, ownAddresses },
  );
  return { clusters, endpoints, listeners, routes, diagnostics: selectedGateway?.diagnostics ?? [] };
}

/** The scope of a proxy, shared by all proxies of the namespace that the same Sidecar selects. */
export function scopeOf(mesh: Mesh, proxy: Proxy, memo: Memo): SidecarScope {
  const { namespace } = proxy;
  const sources = { ...mesh, meshConfig: mesh.config };
  const from = [mesh.services, mesh.virtualServices, mesh.destinationRules, mesh.config];
  if (proxy.type === "router") {
    return memo(from, `gateway scope|${namespace}`, () => gatewayScope(sources, namespace, memo));
  }
  const sidecar = mesh.sidecars.sidecarFor(namespace, proxy.labels);
  return memo(sidecar === undefined ? from : [...from, sidecar], `scope|${namespace}`, () =>
    sidecarScope(sources, namespace, sidecar, memo),
  );
}

/** The rules of a scope that apply to a proxy; the key names the selector rules among them. */
function selectedRules(scope: SidecarScope, proxy: Proxy, memo: Memo) {
  const of = (hostname: string) =>
    destinationRuleFor(scope.destinationRules.get(hostname), "outbound", scope.namespace, proxy.labels);
  const selecting = memo([scope.destinationRules], "hosts of selector rules", () =>
    [...scope.destinationRules].filter(([, rules]) => rules.some(hasSelector)).map(([hostname]) => hostname),
  );
  const selected: string[] = [];
  for (const hostname of selecting) {
    const rule = of(hostname);
    if (rule !== undefined && hasSelector(rule)) selected.push(`${hostname}=${nameOf(rule.config)}`);
  }
  return { of, key: selected.join(",") };
}

const hasSelector = ({ config }: MeshDestinationRule): boolean => config.spec.workloadSelector !== undefined;

const nameOf = ({ meta }: Config): string => `${meta.namespace}/${meta.name}`;

const noPatches: EnvoyFilterPatches = { key: "", patches: [] };

function selectedPatches(patches: readonly SelectedPatch[], targets: ReadonlySet<string>): EnvoyFilterPatches {
  const kept = patches.filter(({ patch }) => targets.has(patch.applyTo));
  return kept.length === 0 ? noPatches : { key: patchesKey(patches, targets), patches: kept };
}

/** Names the patches by object and position. */
function patchesKey(patches: readonly SelectedPatch[], targets: ReadonlySet<string>): string {
  return patches
    .filter(({ patch }) => targets.has(patch.applyTo))
    .map(({ filter, patch }) => `${nameOf(filter)}#${(filter.spec.configPatches ?? []).indexOf(patch)}`)
    .join(",");
}

function policiesKey(policies: WorkloadPolicies): string {
  const { authorization, requestAuthentication, telemetry, wasmPlugins, trafficExtensions } = policies;
  return [authorization, requestAuthentication, telemetry, wasmPlugins, trafficExtensions]
    .map((configs: readonly Config[]) => configs.map(nameOf).join(","))
    .join(";");
}

export type { SelectedGateway };
