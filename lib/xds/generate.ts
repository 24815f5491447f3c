import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { byCodePoint, type Stage } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneList, oneValue } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Proxy } from "../mesh/proxy/proxy.ts";
import type { ClusterView, EndpointView, ListenerView, RouteView } from "../mesh/views/views.ts";
import { type EnvoyViews, type ProxyViews, viewsOf } from "../mesh/views/views-of.ts";
import { generateClusters } from "./clusters/generate-clusters.ts";
import { generateEndpoints } from "./endpoints/generate-endpoints.ts";
import { applyClusterPatches } from "./envoy-filter/apply-cluster-patches.ts";
import { applyListenerPatches } from "./envoy-filter/apply-listener-patches.ts";
import { applyRoutePatches } from "./envoy-filter/apply-route-patches.ts";
import { extensionConfigs } from "./envoy-filter/extension-configs.ts";
import { grpcResources } from "./grpc/generate-grpc.ts";
import { generateListeners } from "./listeners/generate-listeners.ts";
import { nameTables } from "./name-table/name-table.ts";
import { rdsNames } from "./rds-names.ts";
import { allShared, type ClassResources, noResources, type Parted, type Resource, uniqueByName } from "./resource.ts";
import { generateRoutes } from "./routes/generate-routes.ts";
import { type StageOfUnits, type Unit, units } from "./units.ts";
import { wasmResources } from "./wasm/extension-resources.ts";

/**
 * Every resource of the class that a proxy belongs to, in the shape of a stream.
 *
 * @param memo answers for views that other proxies share are made once
 * @returns the same object as long as all views are
 */
export const generate = (mesh: Mesh, proxy: Proxy, memo: Memo): Stage<ClassResources> =>
  generateFromViews(viewsOf(mesh, proxy, memo), memo);

/** The same for a class whose views were selected before. */
export const generateFromViews = (views: ProxyViews, memo: Memo): StageOfUnits<ClassResources> =>
  views.kind === "grpc" ? grpcResources(memo, views) : generateUnits(views, units, memo);

/** Some of the resources of a class of Envoys; nothing of the other types. */
export const generateUnits = (views: EnvoyViews, wanted: readonly Unit[], memo: Memo): StageOfUnits<ClassResources> =>
  classResources(memo, { ...views, wanted });

interface SomeOfViews extends EnvoyViews {
  readonly wanted: readonly Unit[];
}

const classResources = step(
  "resources of a class",
  {
    kind: "value",
    clusters: "identity",
    endpoints: "identity",
    listeners: "identity",
    routes: "identity",
    names: "identity",
    diagnostics: "elements",
    wanted: "value",
  },
  ({ wanted, ...views }: SomeOfViews, memo: Memo): StageOfUnits<ClassResources> => {
    const has = (unit: Unit): boolean => wanted.includes(unit);
    const clusters = has("clusters") ? patchedClusters(memo, { view: views.clusters }) : nothing;
    const endpoints = has("clusters") ? loadAssignments(memo, { view: views.endpoints, ...clusters.value }) : noneOf;
    const listeners = has("listeners") ? listenersOf(views, memo) : nothing;
    const routes = has("routes") ? routesOf(views, memo) : none;
    const extensions = has("listeners") ? extensionsOf(views.listeners, memo) : none;
    return {
      value: {
        clusters: clusters.value,
        endpoints,
        listeners: listeners.value,
        routes: allShared(routes.value),
        ...(extensions.value.length === 0 ? {} : { extension_configs: allShared(extensions.value) }),
        ...(views.names === undefined || !has("names")
          ? {}
          : { name_tables: allShared(nameTables(memo, views.names)) }),
      },
      diagnostics: [
        ...views.diagnostics,
        ...clusters.diagnostics,
        ...listeners.diagnostics,
        ...routes.diagnostics,
        ...extensions.diagnostics,
      ],
      spoken: {
        clusters: clusters.diagnostics,
        listeners: [...listeners.diagnostics, ...extensions.diagnostics],
        routes: routes.diagnostics,
        names: [],
      },
    };
  },
);

const noneOf = allShared(noResources);
const nothing = { value: noneOf, diagnostics: [] };
const none = { value: noResources, diagnostics: [] };

/** The listeners of a class, from its views. */
export const listenersOf = ({ listeners: view }: Pick<EnvoyViews, "listeners">, memo: Memo) =>
  patchedListeners(memo, { view });

/** The clusters of a class, from its views. */
export const clustersOf = ({ clusters: view }: Pick<EnvoyViews, "clusters">, memo: Memo) =>
  patchedClusters(memo, { view });

/** Names of the route tables that the listeners of a class ask for. */
export const tablesAsked = (views: Pick<EnvoyViews, "listeners">, memo: Memo): readonly string[] =>
  namesAsked(memo, listenersOf(views, memo).value);

const routesOf = (views: Pick<EnvoyViews, "listeners" | "routes">, memo: Memo) =>
  patchedRoutes(memo, { view: views.routes, names: tablesAsked(views, memo) });

const patchedClusters = step("clusters", { view: "identity" }, ({ view }: { readonly view: ClusterView }, memo: Memo) =>
  applyClusterPatches(view, generateClusters(view, memo), memo),
);

type OfClusters = Parted<Resource<ClusterJson>> & { readonly view: EndpointView };

const loadAssignments = step(
  "endpoints",
  { view: "identity", shared: "identity", own: "identity" },
  ({ view, ...clusters }: OfClusters, memo: Memo) => generateEndpoints(view, clusters, memo),
);

const patchedListeners = step(
  "listeners",
  { view: "identity" },
  ({ view }: { readonly view: ListenerView }, memo: Memo) =>
    andThen(generateListeners(view, memo), (list) => applyListenerPatches(view, list, memo)),
);

/** What filters ask for by name; of one name what a patch adds counts. */
function extensionsOf(view: ListenerView, memo: Memo): Stage<readonly Resource[]> {
  const patched = extensionConfigs(view.envoyFilters, memo);
  const { value: wasm, diagnostics } = wasmResources(view, memo);
  const value = wasm.length === 0 ? patched : oneList(memo, uniqueByName<Resource>([...patched, ...wasm]));
  return { value, diagnostics };
}

/** Names of the route tables that listeners ask for: one list for the same names, whichever listeners ask. */
const namesAsked = step(
  "asked route tables",
  { shared: "identity", own: "identity" },
  ({ shared, own }: Parted<Resource<ListenerJson>>, memo: Memo): readonly string[] => {
    const ofShared = namesOfListeners(memo, { listeners: shared });
    const ofOwn = namesOfListeners(memo, { listeners: own });
    return oneValue(memo, ofOwn.length === 0 ? ofShared : [...new Set([...ofShared, ...ofOwn])].sort(byCodePoint));
  },
);

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

const patchedRoutes = step("routes", { view: "identity", names: "identity" }, ({ view, names }: Tables, memo: Memo) =>
  andThen(generateRoutes(view, names, memo), (list) => applyRoutePatches(view, list, memo)),
);

/** Hands a stage's value to the next one; both speak. */
function andThen<A, B>(stage: Stage<A>, next: (value: A) => Stage<B>): Stage<B> {
  const { value, diagnostics } = next(stage.value);
  return { value, diagnostics: [...stage.diagnostics, ...diagnostics] };
}
