import { formatDuration, parseDuration } from "../../../base/duration.ts";
import type {
  HTTPBackendRef,
  HTTPRouteMatch,
  HTTPRouteRule,
  NamedMatch,
} from "../../../config/gateway-api/http-route.ts";
import type { GRPCRouteMatch, GRPCRouteRule } from "../../../config/gateway-api/other-routes.ts";
import type {
  HTTPMatchRequest,
  HTTPRetry,
  HTTPRoute,
  HTTPRouteDestination,
  StringMatch,
} from "../../../config/kinds/virtual-service.ts";
import { isRegex } from "../../../config/rules/regex.ts";
import { backendsOf, type RuleContext, weightOf } from "../backends/backends.ts";
import { both, type Problem } from "../problem.ts";
import { filtered, filteredHeaders } from "./http-filters.ts";

/** What a rule comes to: routes, and what is wrong with them; or nothing, and then the whole object comes to nothing. */
export type RuleResult<Route> =
  | { readonly kind: "routes"; readonly routes: readonly Route[]; readonly problem: Problem | undefined }
  | { readonly kind: "refused"; readonly problem: Problem };

/**
 * One route for each match of a rule, so that they can be put in order among those of other rules.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, convertHTTPRoute
 */
export function httpRule(rule: HTTPRouteRule, index: number, context: RuleContext): RuleResult<HTTPRoute> {
  const { backendRefs = [], filters = [], matches } = rule;
  const made = filtered(filters, context);
  if (made.kind === "refused") return made;
  const fields = { ...nameOf(rule, index, context), ...made.fields, ...retriesAndTimeout(rule) };
  const routes = (action: HTTPRoute): readonly HTTPRoute[] =>
    matches.length === 0
      ? [action]
      : matches.map(httpMatch).flatMap((match) => (isReadable(match) ? { ...action, match: [match] } : []));
  if (weightOf(backendRefs) === 0 && made.fields.redirect === undefined) {
    // Nobody is asked for, or everybody is told to take nothing.
    const status = backendRefs.length === 0 ? context.source.statusWithoutBackends() : 500;
    return { kind: "routes", routes: routes({ ...fields, directResponse: { status } }), problem: made.problem };
  }
  const destinations = destinationsOf(backendRefs, context);
  if (destinations.kind === "refused") return destinations;
  return {
    kind: "routes",
    routes: routes({ ...fields, route: destinations.parts }),
    problem: both(destinations.problem, made.problem),
  };
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, convertGRPCRoute */
export function grpcRule(rule: GRPCRouteRule, index: number, context: RuleContext): RuleResult<HTTPRoute> {
  const { backendRefs = [], filters = [], matches = [] } = rule;
  const made = filtered(filters, context);
  if (made.kind === "refused") return made;
  const fields = { ...nameOf(rule, index, context), ...made.fields };
  const routes = (action: HTTPRoute): readonly HTTPRoute[] =>
    matches.length === 0
      ? [action]
      : matches.map(grpcMatch).flatMap((match) => (isReadable(match) ? { ...action, match: [match] } : []));
  if (weightOf(backendRefs) === 0) {
    return { kind: "routes", routes: routes({ ...fields, directResponse: { status: 500 } }), problem: undefined };
  }
  const destinations = destinationsOf(backendRefs, context);
  if (destinations.kind === "refused") return destinations;
  return {
    kind: "routes",
    routes: routes({ ...fields, route: destinations.parts }),
    problem: destinations.problem,
  };
}

function nameOf({ name }: { readonly name?: string }, index: number, context: RuleContext): { readonly name: string } {
  return { name: name ?? `${context.namespace}.${context.name}.${index}` };
}

type Destinations =
  | {
      readonly kind: "destinations";
      readonly parts: readonly HTTPRouteDestination[];
      readonly problem: Problem | undefined;
    }
  | { readonly kind: "refused"; readonly problem: Problem };

function destinationsOf(refs: readonly HTTPBackendRef[], context: RuleContext): Destinations {
  const backends = backendsOf(refs, context);
  if (backends.kind === "refused") return backends;
  const parts: HTTPRouteDestination[] = [];
  for (const { ref, destination, weight } of backends.parts) {
    const { headers, refusal } = filteredHeaders(ref.filters ?? []);
    if (refusal !== undefined) return { kind: "refused", problem: refusal };
    parts.push({ destination, ...(weight === 0 ? {} : { weight }), ...headers });
  }
  return { kind: "destinations", parts, problem: backends.problem };
}

/** On what a request is tried again, whatever codes are named. */
const failures = ["connect-failure", "refused-stream", "unavailable", "cancelled"];

function retriesAndTimeout({ retry, timeouts }: HTTPRouteRule): Pick<HTTPRoute, "retries" | "timeout"> {
  const request = durationOf(timeouts?.request);
  const backend = durationOf(timeouts?.backendRequest);
  if (retry === undefined) {
    const timeout = backend ?? request;
    return timeout === undefined ? {} : { timeout };
  }
  const { attempts = 2, codes = [] } = retry;
  const backoff = durationOf(retry.backoff);
  const retries: HTTPRetry = {
    ...(attempts === 0 ? {} : { attempts, retryOn: [...failures, ...codes].join(",") }),
    ...(backend === undefined ? {} : { perTryTimeout: backend }),
    ...(backoff === undefined ? {} : { backoff }),
  };
  return { retries, ...(request === undefined ? {} : { timeout: request }) };
}

/** In canonical form; none of no length. */
function durationOf(text: string | undefined): string | undefined {
  const nanos = parseDuration(text ?? "0s") ?? 0n;
  return nanos === 0n ? undefined : formatDuration(nanos);
}

function httpMatch({ path, method, ...rest }: HTTPRouteMatch): HTTPMatchRequest {
  const [headers, queryParams] = [byName(rest.headers), byName(rest.queryParams)];
  return {
    uri: pathMatch(path),
    ...(headers === undefined ? {} : { headers }),
    ...(queryParams === undefined ? {} : { queryParams }),
    ...(method === undefined ? {} : { method: { exact: method } }),
  };
}

/** An expression that Envoy cannot read would have it refuse the whole route table: such a match is left out, and a warning says so. */
function isReadable({ uri, headers = {}, queryParams = {} }: HTTPMatchRequest): boolean {
  return [uri, ...Object.values(headers), ...Object.values(queryParams)].every(
    (text) => text?.regex === undefined || isRegex(text.regex),
  );
}

function pathMatch({ type, value }: HTTPRouteMatch["path"]): StringMatch {
  if (type === "Exact") return { exact: value };
  if (type === "RegularExpression") return { regex: value };
  return { prefix: value === "/" ? value : value.replace(/\/$/, "") };
}

function byName(matches: readonly NamedMatch[] = []): Readonly<Record<string, StringMatch>> | undefined {
  if (matches.length === 0) return undefined;
  return Object.fromEntries(
    matches.map(({ type, name, value }) => [name, type === "Exact" ? { exact: value } : { regex: value }]),
  );
}

function grpcMatch({ method, ...rest }: GRPCRouteMatch): HTTPMatchRequest {
  const headers = byName(rest.headers);
  return {
    ...(method === undefined ? {} : { uri: callMatch(method) }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** A call is a request for `/service/method`. */
function callMatch({ type, service, method }: NonNullable<GRPCRouteMatch["method"]>): StringMatch {
  if (service === undefined) return { regex: `/[^/]+/${method ?? ""}` };
  if (type === "Exact") return method === undefined ? { prefix: `/${service}/` } : { exact: `/${service}/${method}` };
  return { regex: `/${service}/${method ?? ".+"}` };
}
