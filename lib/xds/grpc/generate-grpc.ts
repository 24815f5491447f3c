import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { GrpcClusterView, GrpcListenerView, GrpcRouteView, GrpcViews } from "../../mesh/views/grpc-views.ts";
import { generateEndpoints } from "../endpoints/generate-endpoints.ts";
import { allShared } from "../resource.ts";
import type { GeneratedUnit, OfUnits } from "../units.ts";
import { grpcClusters } from "./clusters.ts";
import { grpcListeners } from "./listeners.ts";
import { grpcTables, tableNames } from "./route-tables.ts";

/**
 * Everything that programs of a class may ask for by name.
 *
 * A program asks for the listener of its target, the table that the listener names, the clusters of the routes that it takes, and their
 * endpoints. So a class holds all targets that it can see, in all spellings, and no program ever gets more than it asks for.
 */
export const grpcResources = query(
  "resources of a gRPC class",
  ({ endpoints: view, ...views }: Omit<GrpcViews, "kind" | "diagnostics">, memo: Memo): OfUnits<GeneratedUnit> => {
    const clusters = allShared(clustersOf(memo, { view: views.clusters }));
    const endpoints = generateEndpoints(view, clusters, memo);
    const listeners = listenersOf(memo, { view: views.listeners });
    const routes = tablesOf(memo, { view: views.routes });
    return {
      clusters: { value: { clusters, endpoints }, diagnostics: [] },
      listeners: { ...listeners, value: { listeners: allShared(listeners.value) } },
      routes: { ...routes, value: { routes: allShared(routes.value) } },
      names: { value: {}, diagnostics: [] },
    };
  },
);

const clustersOf = query("gRPC clusters", ({ view }: { readonly view: GrpcClusterView }, memo: Memo) =>
  grpcClusters(view, memo),
);

const listenersOf = query("listeners of a gRPC class", ({ view }: { readonly view: GrpcListenerView }, memo: Memo) =>
  grpcListeners(view, memo),
);

const tablesOf = query("gRPC route tables", ({ view }: { readonly view: GrpcRouteView }, memo: Memo) =>
  grpcTables(view, tableNames(view), memo),
);
