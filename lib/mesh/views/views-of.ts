/**
 * What applies to a proxy, selected and reduced to one view per type of resource.
 *
 * A view's key names what was selected, never what it was selected by: proxies with equal keys share the view, and so every
 * answer made from it. Behind the key stand the objects that were selected: the next mesh gives the same view object as long
 * as none of them changed, so that a change costs only the classes and types that can see it.
 * @see xds-protocol part H
 */
import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../config/diagnostic.ts";
import { isDynamicWildcard } from "../hosts/dynamic-wildcard.ts";
import type { ServedWorkload } from "../legacy-policies/served-port.ts";
import { fingerprint } from "../memo/fingerprint.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import type { EgressListener, Mesh, SidecarScope } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { gatewayScope, ruleNames, sidecarScope } from "../scope/sidecar-scope.ts";
import { classProxyKey, classProxyOf } from "./class-proxy.ts";
import { type GatewaySelection, selectGateways } from "./gateway-view.ts";
import { type InboundSelection, selectInbound } from "./inbound-view.ts";
import { listenerLookupsOf } from "./listener-lookups.ts";
import { listenerOptionsKey, listenerOptionsOf, ownAddressesFor } from "./listener-options.ts";
import { type PatchSelection, selectPatches } from "./patch-selection.ts";
import { perspectiveKey, perspectiveOf } from "./perspective.ts";
import { type RuleSelection, selectRules } from "./rule-selection.ts";
import { sourceLabelsOf } from "./source-labels.ts";
import { tracingViewOf } from "./tracing-view.ts";
import type {
  ClassProxy,
  ClusterView,
  EndpointPerspective,
  EndpointView,
  ListenerView,
  RouteView,
  ServiceScope,
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

/** All that was selected for a proxy. */
interface Selection {
  readonly mesh: Mesh;
  readonly proxy: Proxy;
  readonly memo: Memo;
  readonly classProxy: ClassProxy;
  readonly scope: SidecarScope;
  readonly rules: RuleSelection;
  readonly patches: PatchSelection;
  readonly gateway: GatewaySelection | undefined;
  readonly inbound: InboundSelection;
  readonly perspective: EndpointPerspective;
  readonly workload: ServedWorkload;
  readonly policies: WorkloadPolicies;
  readonly sourceLabels: Readonly<Record<string, string>>;
  /** What every type but endpoints selects by. */
  readonly base: string;
}

/** @param memo shares scopes, merged gateways and whole views between proxies, and between one mesh and the next */
export function viewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): ProxyViews {
  return memo([mesh, proxy], "views", () => {
    const selection = select(mesh, proxy, memo);
    return {
      clusters: clusterView(selection),
      endpoints: endpointView(selection),
      listeners: listenerView(selection),
      routes: routeView(selection),
      diagnostics: selection.gateway?.diagnostics ?? [],
    };
  });
}

function select(mesh: Mesh, proxy: Proxy, memo: Memo): Selection {
  const scope = scopeOf(mesh, proxy, memo);
  const targets = mesh.registry.serviceTargets(proxy);
  const { namespace, labels, serviceAccount } = proxy;
  const { rootNamespace } = mesh.config;
  const workload = { namespace, labels, rootNamespace, serviceAccount, targets, sidecar: scope.sidecar };
  const patched = {
    ...workload,
    type: proxy.type,
    istioVersion: proxy.metadata.istioVersion,
    metadata: proxy.metadata.raw,
  };
  const classProxy = classProxyOf(mesh, proxy);
  const rules = selectRules(scope, proxy.labels, memo);
  const gateway = proxy.type === "router" ? selectGateways(mesh, proxy, targets, memo) : undefined;
  return {
    mesh,
    proxy,
    memo,
    classProxy,
    scope,
    rules,
    patches: selectPatches(mesh.envoyFilters(patched)),
    gateway,
    inbound: selectInbound(mesh, proxy, scope, serviceScopeOf(mesh, scope, memo), workload),
    perspective: perspectiveOf(mesh, proxy, scope, memo),
    workload,
    policies: mesh.policies(workload),
    sourceLabels: sourceLabelsOf(scope, gateway, proxy.labels, memo),
    base: [classProxyKey(classProxy, mesh), scope.id, rules.key].join("|"),
  };
}

function clusterView(selection: Selection): ClusterView {
  const { mesh, proxy, memo, classProxy, scope, rules, gateway, inbound, perspective, base } = selection;
  const patches = selection.patches.clusters;
  const { tlsClientFiles } = proxy.metadata;
  const files = JSON.stringify(tlsClientFiles);
  const outboundKey = [base, patches.key, perspectiveKey(perspective), gateway?.key ?? "", files].join("|");
  const key = `${outboundKey}|${inbound.servedKey}`;
  const services = serviceScopeOf(mesh, scope, memo);
  const from = [mesh.lookups, services, ...patches.from, ...(gateway?.from ?? [])];
  const outbound = memo(from, `outbound clusters|${outboundKey}`, () => ({}));
  return memo([outbound, ...inbound.from], `cluster view|${key}`, () => ({
    key,
    outbound,
    proxy: classProxy,
    destinationRule: rules.destinationRule,
    envoyFilters: patches.selected,
    lookups: mesh.lookups,
    scope: services,
    perspective,
    inbound: inbound.served,
    gateway: gateway?.merged,
    tlsClientFiles,
  }));
}

function endpointView({ mesh, memo, scope, rules, perspective }: Selection): EndpointView {
  const { services, serviceByHostname, destinationRules } = scope;
  const names = memo([services], "names", () => fingerprint(services.map(serviceName).join(",")));
  const ruled = memo([destinationRules], "names", () => fingerprint(ruleNames(destinationRules)));
  const key = [names, ruled, rules.key, perspectiveKey(perspective)].join("|");
  return memo([mesh.lookups, services, destinationRules], `endpoint view|${key}`, () => ({
    key,
    lookups: mesh.lookups,
    scope: { services, serviceByHostname, destinationRules },
    destinationRule: rules.destinationRule,
    perspective,
  }));
}

function routeView(selection: Selection): RouteView {
  const { mesh, proxy, memo, classProxy, scope, rules, gateway, sourceLabels, base } = selection;
  const patches = selection.patches.routes;
  const { httpProxyPort } = proxy.metadata;
  const key = [base, patches.key, JSON.stringify(sourceLabels), gateway?.key ?? "", httpProxyPort].join("|");
  const from = [mesh.serviceLookups, scope, ...patches.from, ...(gateway?.routeFrom ?? [])];
  return memo(from, `route view|${key}`, () => ({
    key,
    proxy: classProxy,
    destinationRule: rules.destinationRule,
    envoyFilters: patches.selected,
    lookups: mesh.serviceLookups,
    scope,
    sourceLabels,
    gateway: gateway?.view,
    httpProxyPort,
  }));
}

function listenerView(selection: Selection): ListenerView {
  const { mesh, proxy, memo, classProxy, scope, rules, gateway, inbound, policies, sourceLabels, base } = selection;
  const patches = selection.patches.listeners;
  const lookups = listenerLookupsOf(mesh, scope, memo);
  const tracing = tracingViewOf(mesh, proxy, policies);
  const options = listenerOptionsOf(mesh, proxy);
  const ownAddresses = ownAddressesFor(mesh, proxy, scope, memo);
  const called = calledPoliciesOf(selection);
  const extensions = [
    ...extensionConfigs(policies),
    ...(called.any ? policies.authorization : []),
    ...[...called.byNamespace.values()].flat(),
  ];
  const outboundKey = [
    base,
    patches.key,
    gateway?.key ?? "",
    JSON.stringify(sourceLabels),
    namesOf(extensions),
    JSON.stringify(tracing),
    listenerOptionsKey(options),
    ownAddresses.join(","),
  ].join("|");
  const secured = [...policies.authorization, ...policies.requestAuthentication];
  const key = [outboundKey, inbound.key, namesOf(secured)].join("|");
  const from = [lookups, scope, ...patches.from, ...(gateway?.routeFrom ?? []), ...asOne(extensions, memo)];
  const outbound = memo(from, `outbound listeners|${outboundKey}`, () => ({}));
  return memo([outbound, ...inbound.from, ...asOne(secured, memo)], `listener view|${key}`, () => ({
    key,
    outbound,
    proxy: classProxy,
    destinationRule: rules.destinationRule,
    envoyFilters: patches.selected,
    lookups,
    scope,
    inbound: inbound.view,
    gateway: gateway?.view,
    sourceLabels,
    policies,
    calledPolicies: called.byNamespace,
    tracing,
    options,
    ownAddresses,
  }));
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

/** The part of a scope that virtual services only change by the services they bring in. */
function serviceScopeOf(mesh: Mesh, scope: SidecarScope, memo: Memo): ServiceScope {
  const { egressListeners: _listeners, ...services } = scope;
  const from = [scope.services, scope.destinationRules, mesh.config];
  return memo(
    scope.sidecar === undefined ? from : [...from, scope.sidecar],
    `service scope|${scope.id}`,
    () => services,
  );
}

const serviceName = ({ hostname, attributes, ports }: SidecarScope["services"][number]): string =>
  `${attributes.namespace}/${hostname}:${ports.map((port) => port.port).join("+")}`;

/** Those that apply to the outbound side as well. */
function extensionConfigs({ telemetry, wasmPlugins, trafficExtensions }: WorkloadPolicies): readonly Config[] {
  return [...telemetry, ...wasmPlugins, ...trafficExtensions];
}

/**
 * Policies that stand in the workload's own way out: in front of hosts that are resolved at run time, nowhere else. Those of
 * the namespaces of such hosts count as well.
 */
function calledPoliciesOf({ mesh, memo, scope, workload }: Pick<Selection, "mesh" | "memo" | "scope" | "workload">) {
  // Not the services of the scope, which are one for each host: several on one host may all have listeners.
  const namespaces = new Set(scope.egressListeners.flatMap((listener) => dynamicNamespaces(listener, memo)));
  const { namespace, rootNamespace } = workload;
  const others = [...namespaces].filter((other) => other !== namespace && other !== rootNamespace);
  return {
    any: namespaces.size > 0,
    byNamespace: new Map(
      others.map((other) => [other, mesh.policies({ ...workload, calledNamespace: other }).authorization] as const),
    ),
  };
}

/** Namespaces of services that are resolved at run time. */
function dynamicNamespaces({ services }: EgressListener, memo: Memo): readonly string[] {
  return memo([services], "resolved at run time", () => {
    const dynamic = services.filter(isDynamicWildcard);
    return [...new Set(dynamic.map(({ attributes }) => attributes.namespace))];
  });
}

/** One object that stands for all of them: there may be hundreds. */
function asOne(configs: readonly Config[], memo: Memo): readonly object[] {
  return configs.length < 2 ? configs : [sameList(memo, `policies|${namesOf(configs)}`, configs)];
}

const namesOf = (configs: readonly Config[]): string => configs.map(nameOf).join(",");

/** What was made for single workloads is told apart by what it says: workloads may have different objects of one name. */
function nameOf({ meta, madeFrom }: Config): string {
  const name = `${meta.kind}/${meta.namespace}/${meta.name}`;
  return madeFrom === undefined ? name : `${name}@${meta.resourceVersion}`;
}
