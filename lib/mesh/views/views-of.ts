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
import { step } from "../memo/step.ts";
import { type Question, tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { scopeFor, serviceScopeOf } from "../scope/scope-for.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { AskedWorkload } from "./asked-proxy.ts";
import { clusterView, endpointView } from "./cluster-views.ts";
import { type GrpcViews, grpcViews } from "./grpc-views.ts";
import { listenerScopeOf } from "./listener-scope.ts";
import { listenerView } from "./listener-views.ts";
import { type NameView, nameViewOf } from "./name-view.ts";
import { answersOf, labelsOf, type ProxyAnswers } from "./proxy-answers.ts";
import { routeView } from "./route-view.ts";
import { seatOf } from "./seat.ts";
import { lastingMesh, type Selection, selectionOf } from "./selection.ts";
import { readSelectorLabels } from "./selector-labels.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import type { ClassProxy, ClusterView, EndpointView, ListenerView, RouteView, ServiceScope } from "./views.ts";

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

/** Views, and what selecting them asked the proxy. */
export interface TracedViews {
  readonly value: ProxyViews;
  /** By part of the selection: what did not change gives the list of before. */
  readonly questions: readonly (readonly Question[])[];
}

/**
 * The views, and what selecting them asked the proxy. Selected is in parts: what stands as long as policies, services and rules do, which
 * is most, what all in a scope share, and the views that are put together of both.
 */
export function tracedViewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): TracedViews {
  const node = answersOf(proxy, mesh.registry, memo);
  const { value: seat, questions } = seatOf(memo, { sidecars: mesh.sidecars }, node);
  const scope = scopeFor(mesh, seat, memo);
  if (seat.type === "grpc") {
    const views = viewsOfProgram(memo, { mesh, scope }, node);
    return { value: views.value, questions: [questions, views.questions] };
  }
  const services = serviceScopeOf(scope, memo);
  const selection = selectionOf(memo, { lasting: lastingMesh(mesh, memo), services }, node);
  const surroundings = surroundingsOf(memo, { mesh, scope, isGateway: seat.type === "router" }, node);
  const { proxy: classProxy } = selection.value;
  const names = classProxy.autoAllocatedAddresses ? namesOf(memo, { mesh, scope, proxy: classProxy }, node) : undefined;
  const { lookups, serviceLookups } = mesh;
  const inputs = { selection: selection.value, surroundings: surroundings.value, scope, services };
  return {
    value: viewsOfEnvoy(memo, { ...inputs, lookups, serviceLookups, names: names?.value }),
    questions: [questions, selection.questions, surroundings.questions, names?.questions ?? noQuestions],
  };
}

const noQuestions: readonly Question[] = [];

interface ProgramInputs {
  readonly mesh: Mesh;
  readonly scope: SidecarScope;
}

const viewsOfProgram = tracedStep(
  "views of a program",
  { mesh: "identity", scope: "identity" },
  ({ mesh, scope }: ProgramInputs, node: ProxyAnswers, memo: Memo): ProxyViews => {
    const labels = labelsOf(node);
    // A pod with the same labels that nobody knows yet backs the same services.
    readSelectorLabels(mesh, node, memo);
    const { rootNamespace } = mesh.config;
    const workload = new AskedWorkload(node, { labels, rootNamespace, sidecar: scope.sidecar });
    return grpcViews(mesh, node, { labels, scope, workload }, memo);
  },
);

const namesOf = tracedStep(
  "names for a proxy",
  { mesh: "identity", scope: "identity", proxy: "identity" },
  ({ mesh, ...of }: ProgramInputs & { readonly proxy: ClassProxy }, node: ProxyAnswers, memo: Memo): NameView =>
    nameViewOf(mesh, node, of, memo),
);

interface EnvoyInputs extends Pick<Mesh, "lookups" | "serviceLookups"> {
  readonly selection: Selection;
  readonly surroundings: Surroundings;
  readonly scope: SidecarScope;
  readonly services: ServiceScope;
  readonly names: NameView | undefined;
}

const viewsOfEnvoy = step(
  "views of an Envoy",
  {
    selection: "identity",
    surroundings: "identity",
    scope: "identity",
    services: "identity",
    lookups: "identity",
    serviceLookups: "identity",
    names: "identity",
  },
  (
    { selection, surroundings, scope, services, lookups, serviceLookups, names }: EnvoyInputs,
    memo: Memo,
  ): EnvoyViews => {
    const { proxy, rules, patches, inbound, perspective, policies, tracing, options, tlsClientFiles } = selection;
    const { gateway, sourceLabels, calledPolicies, ownAddresses, lookups: listenerLookups } = surroundings;
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
          tlsClientFiles,
        },
        { patches: patches.clusters, inbound: inbound.served },
        memo,
      ),
      endpoints: endpointView({ lookups, scope: services, rules, perspective }, memo),
      listeners: listenerView(
        {
          ...base,
          lookups: listenerLookups,
          scope: listenerScopeOf(scope, memo),
          sourceLabels,
          calledPolicies,
          tracing,
          options,
          ownAddresses,
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
        httpProxyPort: options.httpProxyPort,
      }),
      names,
      diagnostics: gateway?.diagnostics ?? [],
    };
  },
);
