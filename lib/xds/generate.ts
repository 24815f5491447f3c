import { byCodePoint, type Diagnostic, type Stage } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Proxy } from "../mesh/proxy/proxy.ts";
import { viewsOf } from "../mesh/views/views-of.ts";
import { generateClusters } from "./clusters/generate-clusters.ts";
import { generateEndpoints } from "./endpoints/generate-endpoints.ts";
import { applyClusterPatches } from "./envoy-filter/apply-cluster-patches.ts";
import { applyListenerPatches } from "./envoy-filter/apply-listener-patches.ts";
import { applyRoutePatches } from "./envoy-filter/apply-route-patches.ts";
import { generateListeners } from "./listeners/generate-listeners.ts";
import { rdsNames } from "./rds-names.ts";
import type { ClassResources } from "./resource.ts";
import { generateRoutes } from "./routes/generate-routes.ts";

/**
 * Every resource of the class that a proxy belongs to, in the shape of a stream.
 *
 * @param memo answers for views that other proxies share are made once
 * @returns each type sorted by name, each name once
 */
export function generate(mesh: Mesh, proxy: Proxy, memo: Memo): Stage<ClassResources> {
  const views = viewsOf(mesh, proxy, memo);
  const clusters = memo([views.clusters], "generate", () => {
    const generated = generateClusters(views.clusters, memo);
    return andThen(generated, (list) => applyClusterPatches(views.clusters, list, memo));
  });
  const endpoints = memo([views.endpoints, clusters.value], "generate", () =>
    generateEndpoints(views.endpoints, clusters.value, memo),
  );
  const listeners = memo([views.listeners], "generate", () => {
    const generated = generateListeners(views.listeners, memo);
    return andThen(generated, (list) => applyListenerPatches(views.listeners, list, memo));
  });
  const names = memo([listeners.value], "rds names", () =>
    [...new Set(listeners.value.flatMap(({ json }) => memo([json], "rds names", () => rdsNames(json))))].sort(
      byCodePoint,
    ),
  );
  // By the names themselves: classes that see the same routes ask for them by different listeners.
  const routes = memo([views.routes], `generate|${names.join()}`, () => {
    const generated = generateRoutes(views.routes, names, memo);
    return andThen(generated, (list) => applyRoutePatches(views.routes, list, memo));
  });
  const diagnostics: readonly Diagnostic[] = [
    ...views.diagnostics,
    ...clusters.diagnostics,
    ...listeners.diagnostics,
    ...routes.diagnostics,
  ];
  return {
    value: { clusters: clusters.value, endpoints, listeners: listeners.value, routes: routes.value },
    diagnostics,
  };
}

/** Hands a stage's value to the next one; both speak. */
function andThen<A, B>(stage: Stage<A>, next: (value: A) => Stage<B>): Stage<B> {
  const { value, diagnostics } = next(stage.value);
  return { value, diagnostics: [...stage.diagnostics, ...diagnostics] };
}
