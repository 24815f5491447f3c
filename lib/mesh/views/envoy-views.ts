import type { Diagnostic } from "../../config/diagnostic.ts";
import { column } from "../memo/column.ts";
import { remembered } from "../memo/lazy.ts";
import type { Memo } from "../memo/memo.ts";
import { oneValue } from "../memo/same.ts";
import { type Question, type Traced, tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import { serviceScopeOf } from "../scope/scope-for.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { clusterViews, endpointView, outboundClusterView } from "./cluster-views.ts";
import { listenerScopeOf } from "./listener-scope.ts";
import { listenerView } from "./listener-views.ts";
import { type NameView, nameViewOf } from "./name-view.ts";
import type { AskedOfProxy, ProxyAnswers } from "./proxy-answers.ts";
import { routeView } from "./route-view.ts";
import {
  type LastingMesh,
  type ListeningSelection,
  lastingMesh,
  type OutwardSelection,
  type RoutingSelection,
  type Selection,
  selectionOf,
} from "./selection.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import type {
  ClassProxy,
  ClusterView,
  EndpointView,
  ListenerScope,
  ListenerView,
  MeshLookups,
  RouteView,
  ServiceLookups,
  ServiceScope,
} from "./views.ts";

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

/** An Envoy, and the scope that it is in. */
export interface PlacedEnvoy {
  readonly node: ProxyAnswers;
  readonly scope: SidecarScope;
}

interface TracedEnvoys {
  readonly views: readonly EnvoyViews[];
  /** For each of them, by part of what is selected. */
  readonly asked: readonly AskedOfProxy[];
}

/**
 * The views of Envoys, column by column: what a column is made of many have in common, and most of it is what it was.
 *
 * @param slot tells lists of proxies apart when they are found again
 */
export function viewsOfEnvoys(mesh: Mesh, envoys: readonly PlacedEnvoy[], memo: Memo, slot: string): TracedEnvoys {
  const forAll = <T>(value: T): readonly T[] => envoys.map(() => value);
  const lookups = forAll(mesh.lookups);
  const scopes = envoys.map(({ scope }) => scope);
  const services = scopes.map(remembered((scope) => serviceScopeOf(scope, memo)));
  const selections = selectionsOf(memo, slot, {
    node: envoys.map(({ node }) => node),
    services,
    lasting: forAll(lastingMesh(mesh, memo)),
  });
  const selected = selections.map(({ value }) => value);
  const surroundings = surroundingsOfAll(mesh, envoys, memo);
  const around = surroundings.map(({ value }) => value);
  const names = envoys.map((envoy, at) => namesFor(mesh, envoy, selected[at]?.proxy, memo));
  const outward = selected.map((selection) => selection.outward);
  const views = viewsOfEach(memo, slot, {
    clusters: clusterViews(memo, slot, {
      own: selected.map(({ own }) => own),
      outbound: outboundViews(memo, slot, {
        outward,
        scope: services,
        lookups,
        containsAutoPassthrough: around.map(({ gateway }) => gateway?.merged.containsAutoPassthrough === true),
      }),
    }),
    endpoints: endpointViews(memo, slot, { outward, scope: services, lookups }),
    listeners: listenerViews(memo, slot, {
      listening: selected.map(({ listening }) => listening),
      scope: scopes.map(remembered((scope) => listenerScopeOf(scope, memo))),
      surroundings: around,
    }),
    routes: routeViews(memo, slot, {
      routing: selected.map(({ routing }) => routing),
      scope: scopes,
      surroundings: around,
      lookups: forAll(mesh.serviceLookups),
    }),
    names: names.map((of) => of?.value),
    diagnostics: around.map(({ gateway }) => gateway?.diagnostics ?? noDiagnostics),
  });
  const asked = [selections, surroundings, names].flatMap((parts) =>
    envoys.map(({ node: { namespace } }, at) => ({ namespace, questions: parts[at]?.questions ?? noQuestions })),
  );
  return { views, asked };
}

const noQuestions: readonly Question[] = [];
const noDiagnostics: readonly Diagnostic[] = [];

interface SelectionRow {
  readonly node: ProxyAnswers;
  readonly services: ServiceScope;
  readonly lasting: LastingMesh;
}

const selectionsOf = column(
  "selections",
  ["node", "services", "lasting"],
  ({ node, ...inputs }: SelectionRow, memo: Memo): Traced<Selection> => selectionOf(memo, inputs, node),
);

/** What nothing was asked for of one proxy is the same for all in its scope. */
function surroundingsOfAll(mesh: Mesh, envoys: readonly PlacedEnvoy[], memo: Memo): readonly Traced<Surroundings>[] {
  const forAllIn = new Map<SidecarScope, Traced<Surroundings>>();
  return envoys.map(({ node, scope }) => {
    const known = forAllIn.get(scope);
    if (known !== undefined) return known;
    const { value, questions } = surroundingsOf(memo, { mesh, scope, isGateway: node.type === "router" }, node);
    const found = { value, questions: oneValue(memo, questions) };
    if (questions.length === 0) forAllIn.set(scope, found);
    return found;
  });
}

/** Of a proxy that captures DNS. */
function namesFor(
  mesh: Mesh,
  { node, scope }: PlacedEnvoy,
  proxy: ClassProxy | undefined,
  memo: Memo,
): Traced<NameView> | undefined {
  if (proxy?.autoAllocatedAddresses !== true) return undefined;
  const { value, questions } = namesOf(memo, { mesh, scope, proxy }, node);
  return { value, questions: oneValue(memo, questions) };
}

interface NameInputs {
  readonly mesh: Mesh;
  readonly scope: SidecarScope;
  readonly proxy: ClassProxy;
}

const namesOf = tracedStep(
  "names for a proxy",
  { mesh: "identity", scope: "identity", proxy: "identity" },
  ({ mesh, ...of }: NameInputs, node: ProxyAnswers, memo: Memo): NameView => nameViewOf(mesh, node, of, memo),
);

interface OutwardRow {
  readonly outward: OutwardSelection;
  readonly scope: ServiceScope;
  readonly lookups: MeshLookups;
}

const outboundViews = column(
  "outbound cluster views",
  ["outward", "scope", "lookups", "containsAutoPassthrough"],
  ({ outward, ...row }: OutwardRow & { readonly containsAutoPassthrough: boolean }, memo: Memo) =>
    outboundClusterView(memo, { ...outward, ...row }),
);

const endpointViews = column(
  "endpoint views",
  ["outward", "scope", "lookups"],
  ({ outward: { rules, perspective }, ...row }: OutwardRow, memo: Memo) =>
    endpointView({ ...row, rules, perspective }, memo),
);

interface ListenerRow {
  readonly listening: ListeningSelection;
  readonly scope: ListenerScope;
  readonly surroundings: Surroundings;
}

const listenerViews = column(
  "listener views",
  ["listening", "scope", "surroundings"],
  ({ listening, scope, surroundings }: ListenerRow, memo: Memo): ListenerView => {
    const { proxy, rules, tracing, options, ...besides } = listening;
    const { gateway, ...around } = surroundings;
    const outbound = { proxy, rules, tracing, options, ...around, scope };
    return listenerView(outbound, { ...besides, gateway: gateway?.view }, memo);
  },
);

interface RouteRow {
  readonly routing: RoutingSelection;
  readonly scope: SidecarScope;
  readonly surroundings: Surroundings;
  readonly lookups: ServiceLookups;
}

const routeViews = column(
  "route views",
  ["routing", "scope", "surroundings", "lookups"],
  ({ routing, scope, surroundings, lookups }: RouteRow, memo: Memo): RouteView => {
    const { sourceLabels, gateway } = surroundings;
    return routeView(memo, { ...routing, lookups, scope, sourceLabels, gateway: gateway?.view });
  },
);

const viewsOfEach = column(
  "views of an Envoy",
  ["clusters", "endpoints", "listeners", "routes", "names", "diagnostics"],
  (row: Omit<EnvoyViews, "kind">): EnvoyViews => ({ kind: "envoy", ...row }),
);
