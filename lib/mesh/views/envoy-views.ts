import type { Diagnostic } from "../../base/diagnostic.ts";
import { column } from "../../incremental/column.ts";
import { internValue, listKeeper } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { forAll } from "../../incremental/rearranged.ts";
import { type Question, type Traced, trackedQuery } from "../../incremental/tracked-query.ts";
import type { Mesh } from "../mesh.ts";
import { serviceScopeOf } from "../scope/scope-for.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { clusterKeys, endpointView, outboundClusterView } from "./cluster-views.ts";
import { listenerScopeOf } from "./listeners/listener-scope.ts";
import { listenerView } from "./listeners/listener-views.ts";
import { type NameView, nameViewOf } from "./name-view.ts";
import type { AskedOfProxy, ProxyAnswers } from "./proxies/proxy-answers.ts";
import { routeView } from "./route-view.ts";
import { type ScopeContext, scopeContextOf } from "./scope-context.ts";
import {
  type LastingMesh,
  type ListeningSelection,
  lastingMesh,
  type OutboundSelection,
  type RoutingSelection,
  type Selection,
  selectionOf,
} from "./selection.ts";
import type { EnvoyColumns } from "./view-columns.ts";
import type {
  ClassProxy,
  ListenerScope,
  ListenerView,
  MeshLookups,
  RouteView,
  ServiceLookups,
  ServiceScope,
} from "./views.ts";

/** Envoys, and the scopes that they are in; both of one length. */
export interface PlacedEnvoys {
  readonly nodes: readonly ProxyAnswers[];
  readonly scopes: readonly SidecarScope[];
}

interface TracedEnvoys {
  readonly views: EnvoyColumns;
  /** By part of what is selected, for each of them. */
  readonly asked: readonly (readonly AskedOfProxy[])[];
}

/**
 * The views of Envoys, column by column: what a column is made of many have in common, and most of it is what it was.
 *
 * @param slot tells lists of proxies apart when they are found again
 */
export function viewsOfEnvoys(mesh: Mesh, { nodes, scopes }: PlacedEnvoys, memo: Memo, slot: string): TracedEnvoys {
  const inAll = <T>(of: string, value: T): readonly T[] => forAll(memo, `${slot}|${of}`, value, nodes.length);
  const lookups = inAll("lookups", mesh.lookups);
  const services = serviceScopes(memo, slot, { scope: scopes });
  const selections = selectionsOf(memo, slot, {
    node: nodes,
    services,
    lasting: inAll("lasting", lastingMesh(mesh, memo)),
  });
  const { own, outbound: selected, listening, routing, proxies } = selectedParts(memo, { selections });
  const scopeContexts = scopeContextsOf(mesh, { nodes, scopes }, memo);
  const around = scopeContexts.map(({ value }) => value);
  const names = proxies.map((proxy, at) => namesFor(mesh, { node: nodes[at], scope: scopes[at], proxy }, memo));
  const outbound = outboundViews(memo, slot, {
    outbound: selected,
    scope: services,
    lookups,
    containsAutoPassthrough: around.map(({ gateway }) => gateway?.merged.containsAutoPassthrough === true),
  });
  const asked = (part: string, of: readonly (Pick<Traced<unknown>, "questions"> | undefined)[]) =>
    askedOf(memo, `${slot}|${part}`, { node: nodes, questions: of.map((one) => one?.questions ?? noQuestions) });
  return {
    views: {
      own,
      outbound,
      clusterKeys: clusterKeys(memo, slot, { own, outbound: outbound.map(({ key }) => key) }),
      endpoints: endpointViews(memo, slot, { outbound: selected, scope: services, lookups }),
      listeners: listenerViews(memo, slot, {
        listening,
        scope: listenerScopes(memo, slot, { scope: scopes }),
        scopeContext: around,
      }),
      routes: routeViews(memo, slot, {
        routing,
        scope: scopes,
        scopeContext: around,
        lookups: inAll("serviceLookups", mesh.serviceLookups),
      }),
      names: keptNames(
        memo,
        slot,
        names.map((of) => of?.value),
      ),
      diagnostics: keptDiagnostics(
        memo,
        slot,
        around.map(({ gateway }) => gateway?.diagnostics ?? noDiagnostics),
      ),
    },
    asked: [asked("selections", selections), asked("surroundings", scopeContexts), asked("names", names)],
  };
}

interface ScopeRow {
  readonly scope: SidecarScope;
}

const serviceScopes = column("service scopes", ["scope"], ({ scope }: ScopeRow, memo: Memo) =>
  serviceScopeOf(scope, memo),
);

const listenerScopes = column("listener scopes", ["scope"], ({ scope }: ScopeRow, memo: Memo) =>
  listenerScopeOf(scope, memo),
);

const keptNames = listKeeper<NameView | undefined>("names of proxies");
const keptDiagnostics = listKeeper<readonly Diagnostic[]>("diagnostics of proxies");

const noQuestions: readonly Question[] = [];
const noDiagnostics: readonly Diagnostic[] = [];

/** What proxies were asked for one part of their views; the same list as long as it is. */
export const askedOf = column(
  "questions to proxies",
  ["node", "questions"],
  ({
    node: { namespace },
    questions,
  }: { readonly node: ProxyAnswers } & Pick<AskedOfProxy, "questions">): AskedOfProxy => ({
    namespace,
    questions,
  }),
);

/** What was selected, a column for each part. */
const selectedParts = query(
  "parts of selections",
  ({ selections }: { readonly selections: readonly Traced<Selection>[] }) => ({
    own: selections.map(({ value }) => value.own),
    outbound: selections.map(({ value }) => value.outbound),
    listening: selections.map(({ value }) => value.listening),
    routing: selections.map(({ value }) => value.routing),
    proxies: selections.map(({ value }) => value.proxy),
  }),
);

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
function scopeContextsOf(mesh: Mesh, { nodes, scopes }: PlacedEnvoys, memo: Memo): readonly Traced<ScopeContext>[] {
  const forAllIn = new Map<SidecarScope, Traced<ScopeContext>>();
  return scopes.flatMap((scope, at) => {
    const known = forAllIn.get(scope);
    if (known !== undefined) return known;
    const node = nodes[at];
    if (node === undefined) return [];
    const { value, questions } = scopeContextOf(memo, { mesh, scope, isGateway: node.type === "router" }, node);
    const found = { value, questions: internValue(memo, questions) };
    if (questions.length === 0) forAllIn.set(scope, found);
    return found;
  });
}

interface Named {
  readonly node: ProxyAnswers | undefined;
  readonly scope: SidecarScope | undefined;
  readonly proxy: ClassProxy;
}

/** Of a proxy that captures DNS. */
function namesFor(mesh: Mesh, { node, scope, proxy }: Named, memo: Memo): Traced<NameView> | undefined {
  if (proxy.autoAllocatedAddresses !== true || node === undefined || scope === undefined) return undefined;
  const { value, questions } = namesOf(memo, { mesh, scope, proxy }, node);
  return { value, questions: internValue(memo, questions) };
}

interface NameInputs {
  readonly mesh: Mesh;
  readonly scope: SidecarScope;
  readonly proxy: ClassProxy;
}

const namesOf = trackedQuery(
  "names for a proxy",
  ({ mesh, ...of }: NameInputs, node: ProxyAnswers, memo: Memo): NameView => nameViewOf(mesh, node, of, memo),
);

interface OutboundRow {
  readonly outbound: OutboundSelection;
  readonly scope: ServiceScope;
  readonly lookups: MeshLookups;
}

const outboundViews = column(
  "outbound cluster views",
  ["outbound", "scope", "lookups", "containsAutoPassthrough"],
  ({ outbound, ...row }: OutboundRow & { readonly containsAutoPassthrough: boolean }, memo: Memo) =>
    outboundClusterView(memo, { ...outbound, ...row }),
);

const endpointViews = column(
  "endpoint views",
  ["outbound", "scope", "lookups"],
  ({ outbound: { rules, perspective }, ...row }: OutboundRow, memo: Memo) =>
    endpointView({ ...row, rules, perspective }, memo),
);

interface ListenerRow {
  readonly listening: ListeningSelection;
  readonly scope: ListenerScope;
  readonly scopeContext: ScopeContext;
}

const listenerViews = column(
  "listener views",
  ["listening", "scope", "scopeContext"],
  ({ listening, scope, scopeContext }: ListenerRow, memo: Memo): ListenerView => {
    const { proxy, rules, tracing, options, ...besides } = listening;
    const { gateway, ...around } = scopeContext;
    const outbound = { proxy, rules, tracing, options, ...around, scope };
    return listenerView(outbound, { ...besides, gateway: gateway?.view }, memo);
  },
);

interface RouteRow {
  readonly routing: RoutingSelection;
  readonly scope: SidecarScope;
  readonly scopeContext: ScopeContext;
  readonly lookups: ServiceLookups;
}

const routeViews = column(
  "route views",
  ["routing", "scope", "scopeContext", "lookups"],
  ({ routing, scope, scopeContext, lookups }: RouteRow, memo: Memo): RouteView => {
    const { sourceLabels, gateway } = scopeContext;
    return routeView(memo, { ...routing, lookups, scope, sourceLabels, gateway: gateway?.view });
  },
);
