import type { RouteActionJson, VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { CorsPolicyJson } from "../../../gen/envoy/extensions/filters/http/cors/v3/cors_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { type Behind, type Decision, decided, type End, type Place, type Verdict } from "../decision.ts";
import { isOfMessage, type TypedConfig } from "../typed-config.ts";
import { throughAuthorizer, throughGlobalLimit, throughLocalLimit } from "./asked-elsewhere.ts";
import { throughCors } from "./cors.ts";
import { throughFault } from "./fault.ts";
import { throughJwt } from "./jwt.ts";
import type { Passage } from "./passage.ts";
import { throughRbac } from "./rbac.ts";
import type { FilterContext, Stream } from "./stream.ts";

/** Settings for filters that stand nearer to a route than the connection manager. */
export type Layer = Readonly<Record<string, TypedConfig>> | undefined;

/** What the chosen route says to filters. */
export interface RouteForFilters {
  /** The most specific first: of the weighted cluster, the route, the virtual host, the table. */
  readonly layers: readonly { readonly config: Layer; readonly place: Place }[];
  readonly host: VirtualHostJson | undefined;
  readonly action: RouteActionJson | undefined;
}

/** One filter, judged. */
export interface Judged {
  /** Absent where it has nothing to say. */
  readonly decision?: Decision;
  readonly passage: Passage | undefined;
}

const types = {
  rbac: "envoy.extensions.filters.http.rbac.v3.RBAC",
  rbacPerRoute: "envoy.extensions.filters.http.rbac.v3.RBACPerRoute",
  jwt: "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
  authorizer: "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
  localLimit: "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
  globalLimit: "envoy.extensions.filters.http.ratelimit.v3.RateLimit",
  fault: "envoy.extensions.filters.http.fault.v3.HTTPFault",
  cors: "envoy.extensions.filters.http.cors.v3.Cors",
} as const;

/** Those that answer no request by themselves, by what their messages are called behind `envoy.extensions.filters.http.`, and Istio's. */
const silent =
  /^type\.googleapis\.com\/(?:envoy\.extensions\.filters\.http\.(?:router|grpc_stats|grpc_web|grpc_http1_bridge|compressor|decompressor|header_to_metadata|set_metadata|set_filter_state|upstream_codec|dynamic_forward_proxy|on_demand|stateful_session|tap|alpn)\.|io\.istio\.http\.peer_metadata\.|istio\.envoy\.config\.filter\.http\.|stats\.PluginConfig$|envoy\.config\.filter\.http\.alpn\.)/;

/** A filter of a connection manager, with what the route says instead. */
export function throughFilter(
  filter: HttpFilterJson,
  route: RouteForFilters,
  stream: Stream,
  context: FilterContext,
  own: Place,
): Judged {
  const { name = "", typedConfig, disabled = false, configDiscovery } = filter;
  const override = overrideOf(name, route);
  if (override?.isDisabled ?? disabled) return { passage: undefined };
  const isRead = configDiscovery === undefined && context.work.spend();
  const judged = isRead ? passageOf(filter, override?.config, route, stream, context) : notFollowed(name);
  if (judged === undefined) return { passage: undefined };
  const base = override?.config === undefined ? own : override.place;
  return {
    passage: judged,
    decision: filterDecision("HTTP filter", name, judged, base, behindOf(typedConfig, judged)),
  };
}

/** A filter's part in a trace. */
export function filterDecision(
  step: "HTTP filter" | "network filter",
  name: string,
  passage: Passage,
  place: Place,
  behind: readonly Behind[] | undefined,
): Decision {
  const at = behind === undefined ? place : { ...place, behind };
  const { why, passedOver } = passage;
  return decided({ step, chosen: name, place: at, verdict: verdictOf(passage), why }, passedOver);
}

function verdictOf({ ends }: Passage): Verdict {
  if (ends === undefined) return "passes";
  return ends.part === "unknown" ? "depends" : ends.part < 1 ? "part" : "answers";
}

/** Limits come from EnvoyFilters; what an authorizer is asked about, a filter in front of it says. */
function behindOf(config: TypedConfig | undefined, { behind }: Passage): readonly Behind[] | undefined {
  if (behind !== undefined) return behind;
  const isLimit = isOfMessage(config, types.localLimit) || isOfMessage(config, types.globalLimit);
  return isLimit ? [{ kind: "kind", name: "EnvoyFilter" }] : undefined;
}

interface Override {
  readonly config: TypedConfig | undefined;
  readonly place: Place;
  /** Said by the route; absent where it says nothing of it. */
  readonly isDisabled: boolean | undefined;
}

/** The most specific setting for a filter; undefined where there is none. */
function overrideOf(name: string, { layers }: RouteForFilters): Override | undefined {
  for (const { config, place } of layers) {
    const found = settingIn(config, name);
    if (found !== undefined) return { place, ...found };
  }
  return undefined;
}

/** What each layer says of a filter, the most specific first. */
function settingsOf(name: string, { layers }: RouteForFilters): readonly TypedConfig[] {
  return layers.flatMap(({ config }) => settingIn(config, name)?.config ?? []);
}

function settingIn(layer: Layer, name: string): Omit<Override, "place"> | undefined {
  const found = layer !== undefined && Object.hasOwn(layer, name) ? layer[name] : undefined;
  if (found === undefined) return undefined;
  if (!isOfMessage(found, "envoy.config.route.v3.FilterConfig")) return { config: found, isDisabled: false };
  const { disabled = false, config }: { readonly disabled?: boolean; readonly config?: TypedConfig } = Object(found);
  return { config, isDisabled: disabled };
}

const denied = (why: string): End => ({ kind: "response", status: 403, why });

function passageOf(
  { name = "", typedConfig: config }: HttpFilterJson,
  override: TypedConfig | undefined,
  route: RouteForFilters,
  stream: Stream,
  context: FilterContext,
): Passage | undefined {
  const is = (type: string) => isOfMessage(config, type);
  const perRoute = Object(override ?? {});
  if (is(types.rbac)) {
    // One without rules is no filter for the route.
    const chosen = isOfMessage(override, types.rbacPerRoute) ? perRoute.rbac : config;
    return throughRbac(Object(chosen ?? {}), "http", stream, context, denied);
  }
  if (is(types.jwt)) return throughJwt(Object(config), override && perRoute, stream, context);
  if (is(types.authorizer)) return throughAuthorizer(Object(config), override && perRoute, stream, context, denied);
  if (is(types.localLimit)) return throughLocalLimit(Object(override ?? config));
  if (is(types.globalLimit))
    return throughGlobalLimit(Object(config), { host: route.host, action: route.action, perRoute });
  if (is(types.fault)) return throughFault(Object(override ?? config), route.action?.cluster, stream, context);
  if (is(types.cors)) {
    const policies = settingsOf(name, route).map((one): CorsPolicyJson => Object(one));
    return throughCors(policies, route.action !== undefined, stream, context);
  }
  return silent.test(config?.["@type"] ?? "") ? undefined : notFollowed(name);
}

function notFollowed(name: string): Passage {
  const why = "it is not followed here: it may answer the request, or change it";
  return { why, ends: { part: "unknown", on: [`the filter ${name}`], end: { kind: "not known", why } } };
}
