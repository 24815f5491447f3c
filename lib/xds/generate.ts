import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { byCodePoint, type Diagnostic, type Stage } from "../base/diagnostic.ts";
import { column } from "../incremental/column.ts";
import { internList, internValue } from "../incremental/keep-identity.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { forAll } from "../incremental/rearranged.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Proxy } from "../mesh/proxy/proxy.ts";
import type { GrpcViews } from "../mesh/views/grpc-views.ts";
import type { NameView } from "../mesh/views/name-view.ts";
import type { EnvoyColumns } from "../mesh/views/view-columns.ts";
import type { EndpointView, ListenerView, OwnClusterView, RouteView } from "../mesh/views/views.ts";
import { tracedViewsOf } from "../mesh/views/views-of.ts";
import { type ClusterColumns, generateClusters } from "./clusters/generate-clusters.ts";
import { askingFor, ownAssignments, sharedAssignments } from "./endpoints/generate-endpoints.ts";
import { withLocalClusters } from "./endpoints/local-cluster.ts";
import { applyClusterPatches } from "./envoy-filter/apply-cluster-patches.ts";
import { applyListenerPatches } from "./envoy-filter/apply-listener-patches.ts";
import { applyRoutePatches } from "./envoy-filter/apply-route-patches.ts";
import { extensionConfigs } from "./envoy-filter/extension-configs.ts";
import { settledMatches } from "./envoy-filter/match-notes.ts";
import { grpcResources } from "./grpc/generate-grpc.ts";
import { generateListeners } from "./listeners/generate-listeners.ts";
import { nameTables } from "./name-table/name-table.ts";
import { rdsNames } from "./rds-names.ts";
import { allShared, type ClassResources, noTypes, type Parted, type Resource, uniqueByName } from "./resource.ts";
import { generateRoutes } from "./routes/generate-routes.ts";
import {
  type GeneratedColumns,
  type GeneratedUnit,
  type OfUnits,
  type Unit,
  unitAt,
  unitColumns,
  units,
} from "./units.ts";
import { wasmResources } from "./wasm/extension-resources.ts";

/**
 * Every resource of the class that a proxy belongs to, in the shape of a stream.
 *
 * @param memo answers for views that other proxies share are made once
 */
export function generate(mesh: Mesh, proxy: Proxy, memo: Memo): Stage<ClassResources> {
  const { views } = tracedViewsOf(mesh, [proxy], memo, proxy.id);
  const made = units.map((unit) => {
    const generated =
      views.proxyless.length > 0
        ? unitsOfProxyless(unit, views.proxyless, memo, proxy.id)
        : unitsOfEnvoys[unit](views.envoys, memo, proxy.id);
    return unitAt(unit, generated, 0);
  });
  return {
    value: Object.assign({}, noTypes, ...made.map(({ value }) => value)),
    diagnostics: [
      ...views.envoys.diagnostics.flat(),
      ...settledMatches(made.flatMap(({ diagnostics }) => diagnostics)),
    ],
  };
}

type UnitOfEnvoys = (views: EnvoyColumns, memo: Memo, slot: string) => GeneratedColumns;

/**
 * What classes of Envoys have of each unit's types, a row for each of their views. Most of what they are made from many have in common: so they
 * are gone over column by column.
 *
 * `slot` tells lists of classes apart when they are found again.
 */
export const unitsOfEnvoys: OfUnits<UnitOfEnvoys> = {
  clusters: (views, memo, slot) => {
    const { shared, own, diagnostics } = clustersOf(views, memo, slot);
    const assignments = sharedOfClasses(memo, slot, { view: views.endpoints, clusters: shared });
    const ownAnswers = ownOfClasses(memo, slot, {
      view: views.endpoints,
      asking: asking(memo, slot, { own }),
      shared: assignments,
    });
    const second = {
      shared: assignments,
      own: withLocalClusters({ view: views.endpoints, own: views.own, assignments: ownAnswers }, memo, slot),
    };
    return { first: { shared, own }, second, diagnostics };
  },
  listeners: (views, memo, slot) =>
    unitColumns(memo, { unit: "listeners", made: withExtensions(memo, slot, { view: views.listeners }) }),
  routes: (views, memo, slot) => routesOf(views.routes, tablesAsked(views.listeners, memo, slot), memo, slot),
  names: (views, memo, slot) => unitColumns(memo, { unit: "names", made: namesOf(memo, slot, { view: views.names }) }),
};

/** The same of programs. */
export const unitsOfProxyless = (unit: Unit, views: readonly GrpcViews[], memo: Memo, slot: string): GeneratedColumns =>
  unitColumns(memo, { unit, made: programUnits(memo, `${unit}|${slot}`, { views, unit: views.map(() => unit) }) });

interface OfProgram {
  readonly views: GrpcViews;
  readonly unit: Unit;
}

const programUnits = column(
  "units of programs",
  ["views", "unit"],
  ({ views: { kind: _, diagnostics: __, ...views }, unit }: OfProgram, memo: Memo): GeneratedUnit =>
    grpcResources(memo, views)[unit],
);

/** The clusters of classes, from their views, and what making them had to say. */
export function clustersOf(
  views: Pick<EnvoyColumns, "own" | "outbound">,
  memo: Memo,
  slot: string,
): ClusterColumns & Pick<GeneratedColumns, "diagnostics"> {
  const generated = generateClusters(views, memo, slot);
  // Patches of clusters are seldom.
  if (views.own.every(({ patches }) => patches.patches.length === 0))
    return { ...generated, diagnostics: forAll(memo, `${slot}|no messages`, noDiagnostics, views.own.length) };
  return stageColumns(memo, { stages: patchedClusters(memo, slot, { view: views.own, ...generated }) });
}

const noDiagnostics: readonly Diagnostic[] = [];

interface ClusterSides extends Parted<Resource<ClusterJson>> {
  readonly view: OwnClusterView;
}

const patchedClusters = column(
  "patched clusters of classes",
  ["own", "shared", "view"],
  ({ view, shared, own }: ClusterSides, memo: Memo) => applyClusterPatches(view, { shared, own }, memo),
);

const stageColumns = query(
  "columns of patched clusters",
  ({ stages }: { readonly stages: readonly Stage<Parted<Resource<ClusterJson>>>[] }) => ({
    shared: stages.map(({ value }) => value.shared),
    own: stages.map(({ value }) => value.own),
    diagnostics: stages.map(({ diagnostics }) => diagnostics),
  }),
);

const asking = column(
  "own clusters that ask for endpoints",
  ["own"],
  ({ own }: Pick<Parted<Resource<ClusterJson>>, "own">, memo: Memo) => askingFor(own, memo),
);

interface SharedAsking {
  readonly view: EndpointView;
  readonly clusters: readonly Resource<ClusterJson>[];
}

const sharedOfClasses = column(
  "shared load assignments of classes",
  ["view", "clusters"],
  (row: SharedAsking, memo: Memo) => sharedAssignments(memo, row),
);

interface OwnAsking {
  readonly view: EndpointView;
  /** Of the class's own clusters. */
  readonly asking: readonly Resource<ClusterJson>[];
  readonly shared: readonly Resource<ClusterLoadAssignmentJson>[];
}

const ownOfClasses = column(
  "own load assignments of classes",
  ["view", "shared", "asking"],
  (row: OwnAsking, memo: Memo) => ownAssignments(row, memo),
);

interface OfListeners {
  readonly view: ListenerView;
}

/** The listeners of a class. */
export const listenersOf = query("listeners", ({ view }: OfListeners, memo: Memo) =>
  andThen(generateListeners(view, memo), (list) => applyListenerPatches(view, list, memo)),
);

const withExtensions = column(
  "listeners with extensions",
  ["view"],
  ({ view }: OfListeners, memo: Memo): GeneratedUnit => {
    const listeners = listenersOf(memo, { view });
    const extensions = extensionsOf(view, memo);
    return {
      value: {
        listeners: listeners.value,
        ...(extensions.value.length === 0 ? {} : { extension_configs: allShared(extensions.value) }),
      },
      diagnostics: [...listeners.diagnostics, ...extensions.diagnostics],
    };
  },
);

/** What filters ask for by name; of one name what a patch adds counts. */
function extensionsOf(view: ListenerView, memo: Memo): Stage<readonly Resource[]> {
  const patched = extensionConfigs(view.envoyFilters, memo);
  const { value: wasm, diagnostics } = wasmResources(view, memo);
  const value = wasm.length === 0 ? patched : internList(memo, uniqueByName<Resource>([...patched, ...wasm]));
  return { value, diagnostics };
}

/** Names of the route tables that the listeners of classes ask for, sorted: one list for the same names, whichever listeners ask. */
export const tablesAsked = (view: readonly ListenerView[], memo: Memo, slot: string): readonly (readonly string[])[] =>
  askedTables(memo, slot, { view });

const askedTables = column("asked route tables", ["view"], ({ view }: OfListeners, memo: Memo): readonly string[] => {
  const { shared, own } = listenersOf(memo, { view }).value;
  const ofShared = namesOfListeners(memo, { listeners: shared });
  const ofOwn = namesOfListeners(memo, { listeners: own });
  return internValue(memo, ofOwn.length === 0 ? ofShared : [...new Set([...ofShared, ...ofOwn])].sort(byCodePoint));
});

/** Sorted. One step for all: to look through a listener costs less than to remember its names. */
const namesOfListeners = query(
  "route tables of listeners",
  ({ listeners }: { readonly listeners: readonly Resource<ListenerJson>[] }): readonly string[] =>
    [...rdsNames(listeners.map(({ json }) => json))].sort(byCodePoint),
);

interface Tables {
  readonly view: RouteView;
  readonly names: readonly string[];
}

/** The route tables of classes. @param names of each class those that its listeners ask for */
export const routesOf = (
  view: readonly RouteView[],
  names: readonly (readonly string[])[],
  memo: Memo,
  slot: string,
): GeneratedColumns => unitColumns(memo, { unit: "routes", made: routesOfClasses(memo, slot, { view, names }) });

const routesOfClasses = column("routes of classes", ["view", "names"], (tables: Tables, memo: Memo): GeneratedUnit => {
  const { value, diagnostics } = patchedRoutes(memo, tables);
  return { value: { routes: allShared(value) }, diagnostics };
});

const patchedRoutes = query("routes", ({ view, names }: Tables, memo: Memo) =>
  andThen(generateRoutes(view, names, memo), (list) => applyRoutePatches(view, list, memo)),
);

const namesOf = column(
  "names of classes that capture DNS",
  ["view"],
  ({ view }: { readonly view: NameView | undefined }, memo: Memo): GeneratedUnit => ({
    value: view === undefined ? {} : { name_tables: allShared(nameTables(memo, view)) },
    diagnostics: [],
  }),
);

/** Hands a stage's value to the next one; both speak. */
function andThen<A, B>(stage: Stage<A>, next: (value: A) => Stage<B>): Stage<B> {
  const { value, diagnostics } = next(stage.value);
  return { value, diagnostics: [...stage.diagnostics, ...diagnostics] };
}
