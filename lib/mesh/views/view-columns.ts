/**
 * The views of many proxies, column by column. Most of what a view is made of proxies have in common, and what is made of it is made of
 * columns: a row is put together for those alone who ask for the views of one proxy.
 */
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { appended, valuesOf } from "../../incremental/rearranged.ts";
import type { GrpcViews } from "./grpc-views.ts";
import type { NameView } from "./name-view.ts";
import type {
  ClusterView,
  EndpointView,
  ListenerView,
  OutboundClusterView,
  OwnClusterView,
  RouteView,
  View,
} from "./views.ts";

/** What applies to an Envoy. */
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

/** What applies to any proxy: to an Envoy, or to a program that speaks xDS itself. */
export type ProxyViews = EnvoyViews | GrpcViews;

/** A column for each part of what applies to an Envoy; all of one length. */
export interface EnvoyColumns {
  readonly own: readonly OwnClusterView[];
  readonly outbound: readonly OutboundClusterView[];
  /** Of both together. */
  readonly clusterKeys: readonly View["key"][];
  readonly endpoints: readonly EndpointView[];
  readonly listeners: readonly ListenerView[];
  readonly routes: readonly RouteView[];
  readonly names: readonly (NameView | undefined)[];
  readonly diagnostics: readonly (readonly Diagnostic[])[];
}

/** The views of proxies of both kinds. */
export interface ViewColumns {
  /** Which rows are of Envoys, in their order; the columns have these alone. */
  readonly envoyRows: readonly number[];
  readonly envoys: EnvoyColumns;
  readonly proxylessRows: readonly number[];
  readonly proxyless: readonly GrpcViews[];
}

const rowsOf = ({ envoyRows, proxylessRows }: ViewColumns): number => envoyRows.length + proxylessRows.length;

function envoyAt(columns: EnvoyColumns, at: number): EnvoyViews | undefined {
  const [own, outbound, key] = [columns.own[at], columns.outbound[at], columns.clusterKeys[at]];
  const [endpoints, listeners, routes] = [columns.endpoints[at], columns.listeners[at], columns.routes[at]];
  if (own === undefined || outbound === undefined || key === undefined) return undefined;
  if (endpoints === undefined || listeners === undefined || routes === undefined) return undefined;
  const [names, diagnostics = noDiagnostics] = [columns.names[at], columns.diagnostics[at]];
  return { kind: "envoy", clusters: { own, outbound, key }, endpoints, listeners, routes, names, diagnostics };
}

const noDiagnostics: readonly Diagnostic[] = [];

/** Of each proxy its views. */
export function eachOf(views: ViewColumns): readonly ProxyViews[] {
  const rows: ProxyViews[] = [];
  for (const [at, row] of views.envoyRows.entries()) {
    const of = envoyAt(views.envoys, at);
    if (of !== undefined) rows[row] = of;
  }
  for (const [at, row] of views.proxylessRows.entries()) {
    const of = views.proxyless[at];
    if (of !== undefined) rows[row] = of;
  }
  return rows;
}

/** The columns of some Envoys. */
export const columnsOf = (views: readonly EnvoyViews[]): EnvoyColumns => ({
  own: views.map(({ clusters }) => clusters.own),
  outbound: views.map(({ clusters }) => clusters.outbound),
  clusterKeys: views.map(({ clusters }) => clusters.key),
  endpoints: views.map(({ endpoints }) => endpoints),
  listeners: views.map(({ listeners }) => listeners),
  routes: views.map(({ routes }) => routes),
  names: views.map(({ names }) => names),
  diagnostics: views.map(({ diagnostics }) => diagnostics),
});

/** Some of the rows, in an order of their own. A column that is made of the same stays the same object. */
export function rowsInOrder(memo: Memo, views: ViewColumns, order: readonly number[]): ViewColumns {
  const envoys = rowMappingOf(memo, { order, rows: views.envoyRows });
  const proxyless = rowMappingOf(memo, { order, rows: views.proxylessRows });
  return {
    envoyRows: envoys.to,
    envoys: mapEnvoys(views.envoys, (column) => valuesOf(memo, column, envoys.from)),
    proxylessRows: proxyless.to,
    proxyless: valuesOf(memo, views.proxyless, proxyless.from),
  };
}

interface RowMapping {
  /** Where the values of one kind stand in its columns, in the new order. */
  readonly from: readonly number[];
  /** The rows that they come to. */
  readonly to: readonly number[];
}

const rowMappingOf = query(
  "places of one kind",
  ({ order, rows }: { readonly order: readonly number[]; readonly rows: readonly number[] }): RowMapping => {
    const placeOf = new Map(rows.map((row, at) => [row, at]));
    const [from, to]: [number[], number[]] = [[], []];
    for (const [at, row] of order.entries()) {
      const place = placeOf.get(row);
      if (place === undefined) continue;
      from.push(place);
      to.push(at);
    }
    return { from, to };
  },
);

/** The rows of both, one table below the other. */
export function below(memo: Memo, first: ViewColumns, second: ViewColumns): ViewColumns {
  const by = rowsOf(first);
  const rows = (kind: "envoyRows" | "proxylessRows") =>
    appended(memo, first[kind], shifted(memo, { rows: second[kind], by }));
  return {
    envoyRows: rows("envoyRows"),
    envoys: mapEnvoys(first.envoys, (column, other) => appended(memo, column, other), second.envoys),
    proxylessRows: rows("proxylessRows"),
    proxyless: appended(memo, first.proxyless, second.proxyless),
  };
}

const shifted = query(
  "shifted rows",
  ({ rows, by }: { readonly rows: readonly number[]; readonly by: number }): readonly number[] =>
    rows.map((row) => row + by),
);

/** @param others the columns that `make` is handed beside those of the same parts */
const mapEnvoys = (
  columns: EnvoyColumns,
  make: <T>(column: readonly T[], other: readonly T[]) => readonly T[],
  others: EnvoyColumns = columns,
): EnvoyColumns => ({
  own: make(columns.own, others.own),
  outbound: make(columns.outbound, others.outbound),
  clusterKeys: make(columns.clusterKeys, others.clusterKeys),
  endpoints: make(columns.endpoints, others.endpoints),
  listeners: make(columns.listeners, others.listeners),
  routes: make(columns.routes, others.routes),
  names: make(columns.names, others.names),
  diagnostics: make(columns.diagnostics, others.diagnostics),
});
