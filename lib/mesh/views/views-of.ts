/**
 * What applies to a proxy, selected and reduced to one view per type of resource.
 *
 * Selecting asks the proxy questions (`proxy-answers.ts`) and is remembered by their answers. Each view is made by a step from
 * what was selected: the next mesh gives the same view object as long as nothing changed that it was made from, so a change
 * costs only the classes and types that can see it. A view's key names what was selected, never what it was selected by.
 * @see docs/how-istio-does-it/proxy-classes.md#what-each-generator-reads
 */
import type { ServiceTarget } from "../../registry/service.ts";
import { column } from "../memo/column.ts";
import { remembered } from "../memo/lazy.ts";
import type { Memo } from "../memo/memo.ts";
import { oneValue } from "../memo/same.ts";
import { type Traced, tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { type Seat, scopeFor } from "../scope/scope-for.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { AskedWorkload } from "./asked-proxy.ts";
import { type EnvoyViews, viewsOfEnvoys } from "./envoy-views.ts";
import { type GrpcViews, grpcViews } from "./grpc-views.ts";
import { type AskedOfProxy, labelsOf, ProxyAnswers, targetsOfAll } from "./proxy-answers.ts";
import { seatOf } from "./seat.ts";
import { readSelectorLabels } from "./selector-labels.ts";

export type { EnvoyViews } from "./envoy-views.ts";

/** What applies to any proxy: to an Envoy, or to a program that speaks xDS itself. */
export type ProxyViews = EnvoyViews | GrpcViews;

/** Whether clusters are made from the same: views of them are put together anew where one of two sides is. */
export const haveSameClusters = ({ clusters: a }: ProxyViews, { clusters: b }: ProxyViews): boolean =>
  a === b || ("own" in a && "own" in b && a.own === b.own && a.outbound === b.outbound);

/** @param memo shares scopes, merged gateways and views between proxies, and between one mesh and the next */
export function viewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): ProxyViews {
  const [views] = tracedViewsOf(mesh, [proxy], memo, proxy.id).views;
  if (views === undefined) throw new Error(`no views of ${proxy.id}`);
  return views;
}

/** Views, and what selecting them asked the proxies. */
export interface TracedViews {
  /** One for each proxy. */
  readonly views: readonly ProxyViews[];
  /** For each proxy, by part of what is selected. */
  readonly asked: readonly AskedOfProxy[];
}

/**
 * The views of proxies, and what selecting them asked these. Selected is in parts: what stands as long as policies, services and rules do,
 * which is most, what all in a scope share, and the views that are put together of both. Each part is gone over for all proxies at once, so
 * that one that is what it was costs a look.
 *
 * @param slot tells lists of proxies apart when they are found again
 */
export function tracedViewsOf(mesh: Mesh, proxies: readonly Proxy[], memo: Memo, slot: string): TracedViews {
  const targets = targetsOfAll(memo, slot, { registry: mesh.registry, census: proxies });
  const nodes = nodesOf(memo, slot, { proxy: proxies, targets });
  const seats = seatsOf(memo, slot, { node: nodes, sidecars: nodes.map(() => mesh.sidecars) });
  const scopeOf = remembered((seat: Seat) => scopeFor(mesh, seat, memo));
  const placed = seats.map(({ node, value: seat }) => ({ node, seat, scope: scopeOf(seat) }));
  const envoys = viewsOfEnvoys(
    mesh,
    placed.filter(({ seat }) => seat.type !== "grpc"),
    memo,
    slot,
  );
  const programs = placed
    .filter(({ seat }) => seat.type === "grpc")
    .map(({ node, scope }) => ({ node, ...viewsOfProgram(memo, { mesh, scope }, node) }));
  const [nextEnvoy, nextProgram] = [envoys.views.values(), programs.values()];
  return {
    views: placed.flatMap(
      ({ seat }) => (seat.type === "grpc" ? nextProgram.next().value?.value : nextEnvoy.next().value) ?? [],
    ),
    asked: [
      ...seats.map(({ node: { namespace }, questions }) => ({ namespace, questions })),
      ...programs.map(({ node: { namespace }, questions }) => ({ namespace, questions: oneValue(memo, questions) })),
      ...envoys.asked,
    ],
  };
}

interface NodeRow {
  readonly proxy: Proxy;
  readonly targets: readonly ServiceTarget[];
}

const nodesOf = column(
  "proxies as questions",
  ["proxy", "targets"],
  ({ proxy, targets }: NodeRow, memo: Memo) => new ProxyAnswers(proxy, () => targets, memo),
);

interface SeatRow extends Pick<Mesh, "sidecars"> {
  readonly node: ProxyAnswers;
}

/** A proxy, where it sees the mesh from, and what it was asked for that. */
interface Seated extends Traced<Seat> {
  readonly node: ProxyAnswers;
}

const seatsOf = column(
  "seats of proxies",
  ["node", "sidecars"],
  ({ node, sidecars }: SeatRow, memo: Memo): Seated => ({ node, ...seatOf(memo, { sidecars }, node) }),
);

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
