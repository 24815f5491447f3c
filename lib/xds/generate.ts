import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { byCodePoint, type Stage } from "../config/diagnostic.ts";
import { column } from "../mesh/memo/column.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneList, oneValue } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Proxy } from "../mesh/proxy/proxy.ts";
import type { NameView } from "../mesh/views/name-view.ts";
import type { EndpointView, ListenerView, OwnClusterView, RouteView } from "../mesh/views/views.ts";
import { type EnvoyViews, type ProxyViews, viewsOf } from "../mesh/views/views-of.ts";
import { generateClusters } from "./clusters/generate-clusters.ts";
import { askingFor, generateEndpoints } from "./endpoints/generate-endpoints.ts";
import { applyClusterPatches } from "./envoy-filter/apply-cluster-patches.ts";
import { applyListenerPatches } from "./envoy-filter/apply-listener-patches.ts";
import { applyRoutePatches } from "./envoy-filter/apply-route-patches.ts";
import { extensionConfigs } from "./envoy-filter/extension-configs.ts";
import { grpcResources } from "./grpc/generate-grpc.ts";
import { generateListeners } from "./listeners/generate-listeners.ts";
import { nameTables } from "./name-table/name-table.ts";
import { rdsNames } from "./rds-names.ts";
import { allShared, type ClassResources, noTypes, type Parted, type Resource, uniqueByName } from "./resource.ts";
import { generateRoutes } from "./routes/generate-routes.ts";
import { type GeneratedUnit, type OfUnits, type Unit, units } from "./units.ts";
import { wasmResources } from "./wasm/extension-resources.ts";

/**
 * Every resource of the class that a proxy belongs to, in the shape of a stream.
 *
 * @param memo answers for views that other proxies share are made once
 */
export function generate(mesh: Mesh, proxy: Proxy, memo: Memo): Stage<ClassResources> {
  const views = viewsOf(mesh, proxy, memo);
  const made = units.flatMap((unit) => generateUnit(unit, [views], memo, proxy.id));
  return {
    value: Object.assign({}, noTypes, ...made.map(({ value }) => value)),
    diagnostics: [...views.diagnostics, ...made.flatMap(({ diagnostics }) => diagnostics)],
  };
}

/**
 * What classes have of a unit's types, one for each of their views, which are all of Envoys or all of programs. Most of what classes of
 * Envoys are made from many have in common: so they are gone over column by column, and a class that is what it was costs a look.
 *
 * @param slot tells lists of classes apart when they are found again
 */
export function generateUnit(
  unit: Unit,
  views: readonly ProxyViews[],
  memo: Memo,
  slot: string,
): readonly GeneratedUnit[] {
  if (views.length > 0 && areOfEnvoys(views)) return unitsOfEnvoys[unit](views, memo, slot);
  return views.flatMap((of) => (of.kind === "grpc" ? grpcResources(memo, of)[unit] : []));
}

const areOfEnvoys = (views: readonly ProxyViews[]): views is readonly EnvoyViews[] =>
  views.every(({ kind }) => kind === "envoy");

type UnitsOfEnvoys = (views: readonly EnvoyViews[], memo: Memo, slot: string) => readonly GeneratedUnit[];

const unitsOfEnvoys: OfUnits<UnitsOfEnvoys> = {
  clusters: (views, memo, slot) => {
    const clusters = clustersOf(views, memo, slot);
    const endpoints = loadAssignments(memo, slot, {
      view: views.map((of) => of.endpoints),
      shared: clusters.map(({ value }) => value.shared),
      asking: asking(memo, slot, { own: clusters.map(({ value }) => value.own) }),
    });
    return clustersWithEndpoints(memo, slot, { clusters, endpoints });
  },
  listeners: (views, memo, slot) => withExtensions(memo, slot, { view: views.map(({ listeners }) => listeners) }),
  routes: (views, memo, slot) => routesOf(views, tablesAsked(views, memo, slot), memo, slot),
  names: (views, memo, slot) => namesOf(memo, slot, { view: views.map(({ names }) => names) }),
};

/** The clusters of classes, from their views. */
export const clustersOf = (
  views: readonly EnvoyViews[],
  memo: Memo,
  slot: string,
): readonly Stage<Parted<Resource<ClusterJson>>>[] => {
  const all = views.map(({ clusters }) => clusters);
  const generated = generateClusters(all, memo, slot);
  return patchedClusters(memo, slot, { view: all.map(({ own }) => own), generated });
};

interface ClusterSides {
  readonly view: OwnClusterView;
  readonly generated: Parted<Resource<ClusterJson>>;
}

const patchedClusters = column(
  "patched clusters of classes",
  ["generated", "view"],
  ({ view, generated }: ClusterSides, memo: Memo) => applyClusterPatches(view, generated, memo),
);

const asking = column(
  "own clusters that ask for endpoints",
  ["own"],
  ({ own }: Pick<Parted<Resource<ClusterJson>>, "own">, memo: Memo) => askingFor(own, memo),
);

interface Asking {
  readonly view: EndpointView;
  readonly shared: readonly Resource<ClusterJson>[];
  /** Of the class's own. */
  readonly asking: readonly Resource<ClusterJson>[];
}

const loadAssignments = column(
  "load assignments of classes",
  ["view", "shared", "asking"],
  ({ view, shared, asking }: Asking, memo: Memo) => generateEndpoints(view, { shared, own: asking }, memo),
);

interface WithEndpoints {
  readonly clusters: Stage<Parted>;
  readonly endpoints: Parted;
}

const clustersWithEndpoints = column(
  "clusters with endpoints",
  ["clusters", "endpoints"],
  ({ clusters, endpoints }: WithEndpoints): GeneratedUnit => ({
    value: { clusters: clusters.value, endpoints },
    diagnostics: clusters.diagnostics,
  }),
);

interface OfListeners {
  readonly view: ListenerView;
}

/** The listeners of a class. */
export const listenersOf = step("listeners", { view: "identity" }, ({ view }: OfListeners, memo: Memo) =>
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
  const value = wasm.length === 0 ? patched : oneList(memo, uniqueByName<Resource>([...patched, ...wasm]));
  return { value, diagnostics };
}

/** Names of the route tables that the listeners of classes ask for, sorted: one list for the same names, whichever listeners ask. */
export const tablesAsked = (views: readonly EnvoyViews[], memo: Memo, slot: string): readonly (readonly string[])[] =>
  askedTables(memo, slot, { view: views.map(({ listeners }) => listeners) });

const askedTables = column("asked route tables", ["view"], ({ view }: OfListeners, memo: Memo): readonly string[] => {
  const { shared, own } = listenersOf(memo, { view }).value;
  const ofShared = namesOfListeners(memo, { listeners: shared });
  const ofOwn = namesOfListeners(memo, { listeners: own });
  return oneValue(memo, ofOwn.length === 0 ? ofShared : [...new Set([...ofShared, ...ofOwn])].sort(byCodePoint));
});

/** Sorted. One step for all: to look through a listener costs less than to remember its names. */
const namesOfListeners = step(
  "route tables of listeners",
  { listeners: "identity" },
  ({ listeners }: { readonly listeners: readonly Resource<ListenerJson>[] }): readonly string[] =>
    [...rdsNames(listeners.map(({ json }) => json))].sort(byCodePoint),
);

interface Tables {
  readonly view: RouteView;
  readonly names: readonly string[];
}

/** The route tables of classes. @param names of each class those that its listeners ask for */
export const routesOf = (
  views: readonly EnvoyViews[],
  names: readonly (readonly string[])[],
  memo: Memo,
  slot: string,
): readonly GeneratedUnit[] => routesOfClasses(memo, slot, { view: views.map(({ routes }) => routes), names });

const routesOfClasses = column("routes of classes", ["view", "names"], (tables: Tables, memo: Memo): GeneratedUnit => {
  const { value, diagnostics } = patchedRoutes(memo, tables);
  return { value: { routes: allShared(value) }, diagnostics };
});

const patchedRoutes = step("routes", { view: "identity", names: "identity" }, ({ view, names }: Tables, memo: Memo) =>
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
