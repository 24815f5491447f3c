/**
 * What applies to a proxy, selected and reduced to one view per type of resource.
 *
 * Selecting asks the proxy questions (`proxy-answers.ts`) and is remembered by their answers. Each view is made by a step from
 * what was selected: the next mesh gives the same view object as long as nothing changed that it was made from, so a change
 * costs only the classes and types that can see it. A view's key names what was selected, never what it was selected by.
 * @see docs/how-istio-does-it/proxy-classes.md#what-each-generator-reads
 */

import { column } from "../../incremental/column.ts";
import { internValue, listKeeper } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { forAll, valuesOf } from "../../incremental/rearranged.ts";
import { type Traced, trackedQuery } from "../../incremental/tracked-query.ts";
import type { ServiceTarget } from "../../registry/service.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { type ProxyKey, scopeFor } from "../scope/scope-for.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { askedOf, viewsOfEnvoys } from "./envoy-views.ts";
import { type GrpcViews, grpcViews } from "./grpc-views.ts";
import { type AskedOfProxy, labelsOf, ProxyAnswers, targetsOfAll } from "./proxies/proxy-answers.ts";
import { proxyKeyOf } from "./proxies/proxy-key.ts";
import { readSelectorLabels } from "./proxies/selector-labels.ts";
import { TrackedWorkload } from "./proxies/tracked-workload.ts";
import { eachOf, type ProxyViews, type ViewColumns } from "./view-columns.ts";

/** Whether clusters are made from the same: views of them are put together anew where one of two sides is. */
export const haveSameClusters = ({ clusters: a }: ProxyViews, { clusters: b }: ProxyViews): boolean =>
  a === b || ("own" in a && "own" in b && a.own === b.own && a.outbound === b.outbound);

/** @param memo shares scopes, merged gateways and views between proxies, and between one mesh and the next */
export function viewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): ProxyViews {
  const [views] = eachOf(tracedViewsOf(mesh, [proxy], memo, proxy.id).views);
  if (views === undefined) throw new Error(`no views of ${proxy.id}`);
  return views;
}

/** Views, and what selecting them asked the proxies. */
export interface TracedViews {
  /** A row for each proxy. */
  readonly views: ViewColumns;
  /** By part of what is selected, of those proxies that it is selected for: the same lists as long as they are. */
  readonly asked: readonly (readonly AskedOfProxy[])[];
}

/**
 * The views of proxies, and what selecting them asked these. Selected is in parts: what stands as long as policies, services and rules do,
 * which is most, what all in a scope share, and the views that are put together of both. Each part is gone over for all proxies at once, so
 * that one that is what it was costs a look.
 *
 * @param slot tells lists of proxies apart when they are found again
 */
export function tracedViewsOf(mesh: Mesh, proxies: readonly Proxy[], memo: Memo, slot: string): TracedViews {
  const targets = targetsOfAll(memo, slot, { registry: mesh.registry, allProxies: proxies });
  const nodes = nodesOf(memo, slot, { proxy: proxies, targets });
  const proxyKeys = proxyKeysOf(memo, slot, {
    node: nodes,
    sidecars: forAll(memo, `${slot}|sidecars`, mesh.sidecars, nodes.length),
  });
  const scopes = scopesOf(memo, slot, { proxyKey: proxyKeys, mesh: forAll(memo, `${slot}|mesh`, mesh, nodes.length) });
  const { envoyRows, proxylessRows } = kindsOf(memo, { proxyKeys });
  const envoys = viewsOfEnvoys(
    mesh,
    { nodes: valuesOf(memo, nodes, envoyRows), scopes: valuesOf(memo, scopes, envoyRows) },
    memo,
    slot,
  );
  const proxyless = proxylessRows.flatMap((row): readonly Traced<GrpcViews>[] => {
    const [node, scope] = [nodes[row], scopes[row]];
    return node === undefined || scope === undefined ? [] : [viewsOfProxyless(memo, { mesh, scope }, node)];
  });
  return {
    views: {
      envoyRows,
      envoys: envoys.views,
      proxylessRows,
      proxyless: keptProxyless(
        memo,
        slot,
        proxyless.map(({ value }) => value),
      ),
    },
    asked: [
      askedOf(memo, `${slot}|seats`, { node: nodes, questions: proxyKeys.map(({ questions }) => questions) }),
      askedOf(memo, `${slot}|programs`, {
        node: valuesOf(memo, nodes, proxylessRows),
        questions: proxyless.map(({ questions }) => internValue(memo, questions)),
      }),
      ...envoys.asked,
    ],
  };
}

const keptProxyless = listKeeper<GrpcViews>("views of programs");

/** Which proxies are of which kind. */
const kindsOf = query(
  "kinds of proxies",
  ({
    proxyKeys,
  }: {
    readonly proxyKeys: readonly TracedProxyKey[];
  }): Pick<ViewColumns, "envoyRows" | "proxylessRows"> => ({
    envoyRows: proxyKeys.flatMap(({ value }, row) => (value.type === "grpc" ? [] : row)),
    proxylessRows: proxyKeys.flatMap(({ value }, row) => (value.type === "grpc" ? row : [])),
  }),
);

interface NodeRow {
  readonly proxy: Proxy;
  readonly targets: readonly ServiceTarget[];
}

const nodesOf = column(
  "proxies as questions",
  ["proxy", "targets"],
  ({ proxy, targets }: NodeRow, memo: Memo) => new ProxyAnswers(proxy, () => targets, memo),
);

interface ProxyKeyRow extends Pick<Mesh, "sidecars"> {
  readonly node: ProxyAnswers;
}

/** Where a proxy sees the mesh from, and what it was asked for that. */
type TracedProxyKey = Traced<ProxyKey>;

const proxyKeysOf = column(
  "seats of proxies",
  ["node", "sidecars"],
  ({ node, sidecars }: ProxyKeyRow, memo: Memo): TracedProxyKey => proxyKeyOf(memo, { sidecars }, node),
);

const scopesOf = column(
  "scopes of proxies",
  ["proxyKey", "mesh"],
  ({ proxyKey, mesh }: { readonly proxyKey: TracedProxyKey; readonly mesh: Mesh }, memo: Memo) =>
    scopeFor(mesh, proxyKey.value, memo),
);

interface ProgramInputs {
  readonly mesh: Mesh;
  readonly scope: SidecarScope;
}

const viewsOfProxyless = trackedQuery(
  "views of a program",
  ({ mesh, scope }: ProgramInputs, node: ProxyAnswers, memo: Memo): GrpcViews => {
    const labels = labelsOf(node);
    // A pod with the same labels that nobody knows yet backs the same services.
    readSelectorLabels(mesh, node, memo);
    const { rootNamespace } = mesh.config;
    const workload = new TrackedWorkload(node, { labels, rootNamespace, sidecar: scope.sidecar });
    return grpcViews(mesh, node, { labels, scope, workload }, memo);
  },
);
