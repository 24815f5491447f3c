import type { VirtualHostJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import type { HttpFilterJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { ChosenRoute } from "./choose-routes.ts";
import { type Decision, type End, type Place, percent, type Way } from "./decision.ts";
import { type Layer, type RouteForFilters, throughFilter } from "./filters/http-filters.ts";
import { type FilterContext, routedRequest, type Stream } from "./filters/stream.ts";
import { type RouterContext, type RouteTarget, targetsOf } from "./route-target.ts";

/** From the choice of a route to where requests end, through the filters of a connection manager. */
export interface Onward {
  readonly filters: readonly HttpFilterJson[];
  readonly context: FilterContext;
  readonly table: RouteConfigurationJson | undefined;
  readonly host: VirtualHostJson | undefined;
  /** The path as the client wrote it. */
  readonly written: string;
  /** Where the filters stand. */
  readonly place: Place;
  /** Which routes take a request; shares add up to 1. */
  choose(stream: Stream): readonly ChosenRoute[];
}

/** A part of all requests, on its way. */
interface Part {
  readonly stream: Stream;
  /** Of all requests, above 0 and at most 1. */
  readonly share: number;
  readonly decisions: readonly Decision[];
  readonly dependsOn: readonly string[];
  /** The first filter that is still in front of it. */
  readonly next: number;
  /** How often its route has been chosen again. */
  readonly reroutes: number;
}

/** A request whose route is chosen again more often is not followed: each time may double the work. */
const maxReroutes = 4;
/** More ways than anybody reads are one that is not known. */
const maxWays = 1_000;

/** The ways of a request that a connection manager has received: shares add up to 100. */
export function waysFrom(onward: Onward, stream: Stream): readonly Way[] {
  const whole: Part = { stream, share: 1, decisions: [], dependsOn: [], next: 0, reroutes: 0 };
  const ways: Way[] = [];
  let share = 0;
  for (const way of routed(onward, whole)) {
    if (ways.length === maxWays) {
      const end: End = { kind: "not known", why: `there are more than ${maxWays} ways` };
      return [...ways, wayOf({ ...whole, share: 1 - share }, end)];
    }
    ways.push(way);
    share += way.sharePercent / 100;
  }
  return ways;
}

/** Filters see the route that is chosen before them. */
function* routed(onward: Onward, part: Part): Generator<Way> {
  for (const chosen of onward.choose(part.stream)) yield* alongRoute(onward, part, chosen);
}

function* alongRoute(onward: Onward, part: Part, chosen: ChosenRoute): Generator<Way> {
  const { context, host, written } = onward;
  const router: RouterContext = { filters: context, host, written };
  const targets = targetsOf(chosen, routedRequest(part.stream, context), router);
  const { decision } = chosen;
  const decisions = decision === undefined ? part.decisions : [...part.decisions, decision];
  const here = { ...part, share: part.share * chosen.share, decisions };
  // Only a weight with settings of its own makes filters different.
  const byLayer = Map.groupBy(targets, ({ layer }) => layer);
  for (const [layer, group] of byLayer) {
    const share = group.reduce((sum, one) => sum + one.share, 0);
    yield* throughFilters(onward, { ...here, share: here.share * share }, { chosen, layer, group, share });
  }
}

/** Targets of a route that filters treat alike. */
interface Group {
  readonly chosen: ChosenRoute;
  readonly layer: Layer;
  readonly group: readonly RouteTarget[];
  /** Of the route's requests. */
  readonly share: number;
}

function* throughFilters(onward: Onward, begun: Part, group: Group): Generator<Way> {
  const { filters, place, table } = onward;
  const route = routeForFilters(onward, group);
  const ignoresPathParameters = group.chosen.route !== undefined && table?.ignorePathParametersInPathMatching === true;
  const context = { ...onward.context, ignoresPathParameters };
  let part = begun;
  for (let at = begun.next; at < filters.length; at++) {
    const { decision, passage } = throughFilter(filters[at] ?? {}, route, part.stream, context, place);
    if (passage === undefined) continue;
    const { ends, next, reroutes } = passage;
    const decisions = decision === undefined ? part.decisions : [...part.decisions, decision];
    if (ends !== undefined && ends.part !== "unknown") {
      yield wayOf({ ...part, decisions, share: part.share * ends.part }, ends.end);
      if (ends.part >= 1) return;
      part = { ...part, share: part.share * (1 - ends.part) };
    }
    const dependsOn = [...part.dependsOn, ...(ends?.on ?? [])];
    part = { ...part, decisions, dependsOn: [...new Set(dependsOn)], stream: next ?? part.stream, next: at + 1 };
    if (reroutes !== true) continue;
    const again = onward.choose(part.stream);
    if (again.some(({ route: one }) => one === group.chosen.route)) continue;
    if (part.reroutes >= maxReroutes) {
      yield wayOf(part, { kind: "not known", why: "its route is chosen again too often" });
      return;
    }
    const rerouted = { ...part, reroutes: part.reroutes + 1 };
    for (const chosen of again) yield* alongRoute(onward, rerouted, chosen);
    return;
  }
  const request = routedRequest(part.stream, context);
  for (const target of group.group) {
    const { decisions, rewritten, mirrors, end } = target.reached(request);
    const share = (part.share * target.share) / group.share;
    yield { ...wayOf({ ...part, share, decisions: [...part.decisions, ...decisions] }, end), rewritten, mirrors };
  }
}

function routeForFilters({ table, host }: Onward, { chosen, layer }: Group): RouteForFilters {
  const { route, decision } = chosen;
  const name = table?.name ?? "";
  const ofTable: Place = { type: "routes", name };
  const ofHost: Place = { ...ofTable, virtualHost: host?.name ?? "" };
  const ofRoute: Place = decision?.place ?? ofHost;
  // A request without a route has none of their settings.
  const layers =
    route === undefined
      ? []
      : [
          { config: layer, place: ofRoute },
          { config: route.typedPerFilterConfig, place: ofRoute },
          { config: host?.typedPerFilterConfig, place: ofHost },
          { config: table?.typedPerFilterConfig, place: ofTable },
        ];
  return { layers, host, action: route?.route };
}

function wayOf({ share, decisions, dependsOn }: Part, end: End): Way {
  return { sharePercent: percent(share), decisions, dependsOn, rewritten: {}, mirrors: [], end };
}
