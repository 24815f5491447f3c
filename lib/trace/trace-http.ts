import type { VirtualHostJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { type ChosenRoute, chooseRoutes } from "./choose-routes.ts";
import { type Decision, decided, type End, type Place, type Trace } from "./decision.ts";
import { type FilterContext, routedRequest, type Stream } from "./filters/stream.ts";
import { receivedStream } from "./http-request.ts";
import { type Onward, waysFrom } from "./http-ways.ts";
import { tableOf } from "./route-table.ts";
import type { HttpRequest } from "./traced-request.ts";
import { chooseVirtualHost } from "./virtual-host.ts";

/** What an HTTP connection manager works with. */
export interface HttpStep {
  readonly context: FilterContext;
  readonly http: HttpRequest;
  readonly settings: HttpConnectionManagerJson;
  /** Whether its own side of the connection is TLS. */
  readonly isTls: boolean;
  /** Where it stands. */
  readonly place: Place;
}

/** From an HTTP connection manager on. */
export function throughHttp({ context, http, settings, isTls, place }: HttpStep): Trace {
  const { httpFilters: filters = [] } = settings;
  const httpFilters = filters.map(({ name = "" }) => name);
  const received = receivedStream({ http, settings, isTls, request: context.request });
  if ("end" in received) {
    const way = { sharePercent: 100, decisions: [], dependsOn: [], rewritten: {}, mirrors: [], end: received.end };
    return { decisions: [], httpFilters, ways: [way] };
  }
  const { stream } = received;
  const { table, decision } = tableOf(context.resources, settings);
  const found = table && chooseVirtualHost(table, stream.headers.get(":authority") ?? "");
  const onward: Onward = {
    filters,
    context,
    table,
    host: found?.host,
    written: http.path,
    place,
    choose(now) {
      // Filters stand in front of the router's answers, too.
      if (table === undefined) return [unrouted("there is no route table")];
      if (found?.host === undefined) return [unrouted("no virtual host fits")];
      const secured = toTls(found.host, now);
      if (secured !== undefined) return [secured];
      const ignoresPathParameters = table.ignorePathParametersInPathMatching === true;
      const matching = { request: routedRequest(now, context), readRegex: context.readRegex, ignoresPathParameters };
      return chooseRoutes(table.name ?? "", found.host, matching);
    },
  };
  const decisions: Decision[] = [decision, ...(found === undefined ? [] : [found.decision])];
  return { decisions, httpFilters, ways: waysFrom(onward, stream) };
}

/** No route, and no decision about one. */
function unrouted(why: string): ChosenRoute {
  return { share: 1, isUncertain: false, end: { kind: "response", status: 404, why } };
}

/** A virtual host for TLS only sends others there. */
function toTls({ requireTls }: VirtualHostJson, { headers }: Stream): ChosenRoute | undefined {
  if (requireTls === undefined || requireTls === "NONE" || headers.get(":scheme") === "https") return undefined;
  if (requireTls === "EXTERNAL_ONLY" && headers.get("x-envoy-internal") === "true") return undefined;
  const location = `https://${headers.get(":authority") ?? ""}${headers.get(":path") ?? ""}`;
  const end: End = { kind: "redirect", status: 301, location };
  return {
    share: 1,
    isUncertain: false,
    decision: decided({ step: "route", why: "the virtual host is for TLS only" }),
    end,
  };
}
