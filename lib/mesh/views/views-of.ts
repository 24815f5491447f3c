/**
 * What applies to a proxy, selected and reduced to one view per type of resource.
 *
 * Selecting asks the proxy questions (`proxy-answers.ts`) and is remembered by their answers. Each view is made by a step from
 * what was selected: the next mesh gives the same view object as long as nothing changed that it was made from, so a change
 * costs only the classes and types that can see it. A view's key names what was selected, never what it was selected by.
 * @see docs/how-istio-does-it/proxy-classes.md#what-each-generator-reads
 */
import type { Diagnostic } from "../../config/diagnostic.ts";
import type { Memo } from "../memo/memo.ts";
import { type Traced, tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import { numberOf } from "../proxy/node-metadata.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { scopeFor, serviceScopeOf } from "../scope/scope-for.ts";
import { AskedWorkload, PatchedNode } from "./asked-proxy.ts";
import { selectCalledPolicies } from "./called-policies.ts";
import { classProxyOf } from "./class-proxy.ts";
import { clusterView, endpointView } from "./cluster-views.ts";
import { selectGateways } from "./gateway-view.ts";
import { type GrpcViews, grpcViews } from "./grpc-views.ts";
import { selectInbound } from "./inbound-view.ts";
import { listenerLookupsOf } from "./listener-lookups.ts";
import { listenerOptionsOf, ownAddressesFor, tlsFilesOf } from "./listener-options.ts";
import { listenerView } from "./listener-views.ts";
import { type NameView, nameViewOf } from "./name-view.ts";
import { selectPatches } from "./patch-selection.ts";
import { perspectiveOf } from "./perspective.ts";
import { answersOf, labelsOf, type ProxyAnswers } from "./proxy-answers.ts";
import { routeView } from "./route-view.ts";
import { selectRules } from "./rule-selection.ts";
import { readSelectorLabels } from "./selector-labels.ts";
import { sourceLabelsOf } from "./source-labels.ts";
import { tracingViewOf } from "./tracing-view.ts";
import type { ClusterView, EndpointView, ListenerView, RouteView } from "./views.ts";

/** What applies to any proxy: to an Envoy, or to a program that speaks xDS itself. */
export type ProxyViews = EnvoyViews | GrpcViews;

export interface EnvoyViews {
  readonly kind: "envoy";
  readonly clusters: ClusterView;
  readonly endpoints: EndpointView;
  readonly listeners: ListenerView;
  readonly routes: RouteView;
  /** Of a proxy that captures DNS. */
  readonly names: NameView | undefined;
  /** What selecting found wrong: servers of merged Gateways that clash. */
  readonly diagnostics: readonly Diagnostic[];
}

/** @param memo shares scopes, merged gateways and whole views between proxies, and between one mesh and the next */
export function viewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): ProxyViews {
  return tracedViewsOf(mesh, proxy, memo).value;
}

/** The views, and what selecting them asked the proxy. */
export function tracedViewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): Traced<ProxyViews> {
  return selectViews(memo, { mesh }, answersOf(proxy, mesh.registry, memo));
}

const selectViews = tracedStep("views of a proxy", { mesh: "identity" }, select);

function select({ mesh }: { readonly mesh: Mesh }, node: ProxyAnswers, memo: Memo): ProxyViews {
  const labels = labelsOf(node);
  const scope = scopeFor(mesh, node, labels, memo);
  // A pod with the same labels that nobody knows yet backs the same services.
  readSelectorLabels(mesh, node, memo);
  const workload = new AskedWorkload(node, {
    labels,
    rootNamespace: mesh.config.rootNamespace,
    sidecar: scope.sidecar,
  });
  if (node.type === "grpc") return grpcViews(mesh, node, { labels, scope, workload }, memo);
  const services = serviceScopeOf(scope, memo);
  const proxy = classProxyOf(mesh, node, memo);
  const rules = selectRules(scope, labels, memo);
  const patches = selectPatches(mesh.envoyFilters(new PatchedNode(mesh, node, labels)), memo);
  const gateway = node.type === "router" ? selectGateways(mesh, node, labels, memo) : undefined;
  const inbound = selectInbound(mesh, node, services, workload, memo);
  const perspective = perspectiveOf(mesh, node, scope, memo);
  const sourceLabels = sourceLabelsOf(scope, gateway, labels, memo);
  const policies = mesh.policies(workload);
  const options = listenerOptionsOf(mesh, node, memo);
  const { lookups, serviceLookups } = mesh;
  const base = { proxy, rules };
  return {
    kind: "envoy",
    clusters: clusterView(
      {
        ...base,
        lookups,
        scope: services,
        perspective,
        containsAutoPassthrough: gateway?.merged.containsAutoPassthrough === true,
        tlsClientFiles: tlsFilesOf(node, "TLS_CLIENT"),
      },
      { patches: patches.clusters, inbound: inbound.served },
      memo,
    ),
    endpoints: endpointView({ lookups, scope, rules, perspective }, memo),
    listeners: listenerView(
      {
        ...base,
        lookups: listenerLookupsOf(mesh, scope, memo),
        scope,
        sourceLabels,
        calledPolicies: selectCalledPolicies(mesh, workload, scope, memo),
        tracing: tracingViewOf(mesh, node, policies.telemetry, memo),
        options,
        ownAddresses: ownAddressesFor(mesh, node, scope, memo),
      },
      { policies, patches: patches.listeners, inbound: inbound.view, gateway: gateway?.view },
      memo,
    ),
    routes: routeView(memo, {
      ...base,
      lookups: serviceLookups,
      scope,
      sourceLabels,
      patches: patches.routes,
      gateway: gateway?.view,
      httpProxyPort: numberOf(node.metadata("HTTP_PROXY_PORT")),
    }),
    names: proxy.autoAllocatedAddresses ? nameViewOf(mesh, node, { scope, proxy }, memo) : undefined,
    diagnostics: gateway?.diagnostics ?? [],
  };
}
