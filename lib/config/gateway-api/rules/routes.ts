import { parseDuration } from "../../../base/duration.ts";
import type { ConfigMeta } from "../../config.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import { expressionProblem, sizeOfAllRules } from "../../rules/regex.ts";
import { each } from "../../rules/values.ts";
import { isIpAddress } from "../../values/ip-address.ts";
import type {
  HTTPBackendRef,
  HTTPRouteFilter,
  HTTPRouteMatch,
  HTTPRouteRule,
  KubernetesHTTPRoute,
  NamedMatch,
  SessionPersistence,
} from "../http-route.ts";
import type { GRPCRoute, GRPCRouteMatch, KubernetesTCPRoute, KubernetesTLSRoute } from "../other-routes.ts";
import { backendRules, commonRouteRules } from "./common-route.ts";
import { filterRules } from "./filters.ts";

const mostMatches = 128;

/** What the custom resource definition says of an HTTPRoute beyond single fields. */
export function* httpRouteRules(spec: KubernetesHTTPRoute): Generator<Finding> {
  yield* commonRouteRules(spec);
  yield* matchCountRules(spec.rules);
  const tooLarge = [...sizeOfAllRules(httpExpressions(spec), ["rules"])];
  yield* tooLarge;
  if (tooLarge.length === 0) yield* each(spec.rules, ["rules"], httpRuleRules);
}

export function* grpcRouteRules(spec: GRPCRoute): Generator<Finding> {
  yield* commonRouteRules(spec);
  yield* matchCountRules(spec.rules ?? []);
  const tooLarge = [...sizeOfAllRules(grpcExpressions(spec), ["rules"])];
  yield* tooLarge;
  if (tooLarge.length > 0) return;
  yield* each(spec.rules, ["rules"], function* (rule, path) {
    yield* each(rule.matches, [...path, "matches"], grpcMatchRules);
    yield* filterRules(rule.filters, [...path, "filters"]);
    yield* each(rule.backendRefs, [...path, "backendRefs"], httpBackendRules);
    yield* persistenceRules(rule.sessionPersistence, [...path, "sessionPersistence"]);
  });
}

const isExpression = ({ type }: { readonly type: string }): boolean => type === "RegularExpression";

const httpExpressions = ({ rules }: KubernetesHTTPRoute): readonly string[] =>
  rules
    .flatMap(({ matches }) => matches)
    .flatMap(({ path, headers = [], queryParams = [] }) => [path, ...headers, ...queryParams])
    .filter(isExpression)
    .map(({ value }) => value);

const grpcExpressions = ({ rules = [] }: GRPCRoute): readonly string[] =>
  rules
    .flatMap(({ matches = [] }) => matches)
    .flatMap(({ method, headers = [] }) => [
      ...(method !== undefined && isExpression(method) ? [method.service ?? "", method.method ?? ""] : []),
      ...headers.filter(isExpression).map(({ value }) => value),
    ]);

const domainName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function* tlsRouteRules(spec: KubernetesTLSRoute, { version }: ConfigMeta): Generator<Finding> {
  const { hostnames = [], rules } = spec;
  yield* commonRouteRules(spec);
  if (version === "v1" && hostnames.length === 0) {
    yield error(["hostnames"], "needs at least one host name", "", "missing-field");
  }
  if (version === "v1" && rules.length > 1) yield error(["rules"], "must have one element");
  for (const [index, host] of hostnames.entries()) {
    const name = host.startsWith("*.") ? host.slice(2) : host;
    if (isIpAddress(host) || !domainName.test(name)) {
      yield error(["hostnames", index], `${JSON.stringify(host)} is no host name`);
    }
  }
  yield* each(rules, ["rules"], streamRuleRules);
}

export function* tcpRouteRules(spec: KubernetesTCPRoute, { version }: ConfigMeta): Generator<Finding> {
  yield* commonRouteRules(spec);
  if (version === "v1" && spec.rules.length > 1) yield error(["rules"], "must have one element");
  yield* each(spec.rules, ["rules"], streamRuleRules);
}

function* streamRuleRules({ backendRefs }: KubernetesTCPRoute["rules"][number], path: Path): Generator<Finding> {
  yield* each(backendRefs, [...path, "backendRefs"], backendRules);
}

function* matchCountRules(rules: readonly { readonly matches?: readonly unknown[] }[]): Generator<Finding> {
  const count = rules.reduce((sum, { matches = [] }) => sum + matches.length, 0);
  if (count > mostMatches) yield error(["rules"], `all rules together have ${count} matches, more than ${mostMatches}`);
}

function* httpRuleRules(rule: HTTPRouteRule, path: Path): Generator<Finding> {
  const { matches, filters = [], backendRefs = [], timeouts } = rule;
  yield* each(matches, [...path, "matches"], httpMatchRules);
  yield* filterRules(rule.filters, [...path, "filters"]);
  yield* each(rule.backendRefs, [...path, "backendRefs"], httpBackendRules);
  if (backendRefs.length > 0 && filters.some(({ requestRedirect }) => requestRedirect !== undefined)) {
    const hint = "remove the backends or the redirect";
    yield error([...path, "backendRefs"], "a rule that redirects has no backends", hint, "conflicting-fields");
  }
  const all = [filters, ...backendRefs.map((backend) => backend.filters ?? [])];
  if (all.some((list) => list.filter(replacesPrefix).length === 1) && !isOnePrefix(matches)) {
    const hint = "split the rule";
    yield error([...path, "matches"], "ReplacePrefixMatch needs exactly one match, of type PathPrefix", hint);
  }
  const [request = 0n, backend = 0n] = [timeouts?.request, timeouts?.backendRequest].map(
    (text) => parseDuration(text ?? "0s") ?? 0n,
  );
  if (request !== 0n && backend > request) {
    yield error([...path, "timeouts", "backendRequest"], "must not be longer than the timeout of the request");
  }
  yield* persistenceRules(rule.sessionPersistence, [...path, "sessionPersistence"]);
}

const replacesPrefix = ({ requestRedirect, urlRewrite }: HTTPRouteFilter): boolean =>
  [requestRedirect?.path, urlRewrite?.path].some(
    (modifier) => modifier?.type === "ReplacePrefixMatch" && modifier.replacePrefixMatch !== undefined,
  );

const isOnePrefix = (matches: readonly HTTPRouteMatch[]): boolean =>
  matches.length === 1 && matches[0]?.path.type === "PathPrefix";

function* httpBackendRules(backend: HTTPBackendRef, path: Path): Generator<Finding> {
  yield* backendRules(backend, path);
  yield* filterRules(backend.filters, [...path, "filters"]);
}

const plainPath = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$/;
const oddPath = /\/\/|\/\.\/|\/\.\.\/|%2f|%2F|#|\/\.\.?$/;

function* httpMatchRules(match: HTTPRouteMatch, path: Path): Generator<Finding> {
  yield* pathRules(match.path, [...path, "path", "value"]);
  yield* each(match.headers, [...path, "headers"], namedMatchRules);
  yield* each(match.queryParams, [...path, "queryParams"], namedMatchRules);
}

/** The definitions take any text for an expression, and so does Istio: its match is left out, the rest of the object stays. */
function* expressionRules(value: string, path: Path): Generator<Finding> {
  const problem = expressionProblem(value);
  if (problem !== undefined) yield warning(path, problem, "the match is left out until it is mended");
}

function* namedMatchRules({ type, value }: NamedMatch, path: Path): Generator<Finding> {
  if (type === "RegularExpression") yield* expressionRules(value, [...path, "value"]);
}

function* pathRules({ type, value }: HTTPRouteMatch["path"], path: Path): Generator<Finding> {
  if (type === "RegularExpression") {
    yield* expressionRules(value, path);
    return;
  }
  if (value.startsWith("/") && plainPath.test(value) && !oddPath.test(value)) return;
  const hint = "begin with /, and write neither //, /./, /../ nor an encoded slash";
  yield error(path, `${JSON.stringify(value)} is no plain path`, hint);
}

const grpcService = /^\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$/i;
const grpcMethod = /^[A-Za-z_][A-Za-z_0-9]*$/;

function* grpcMatchRules({ method, headers }: GRPCRouteMatch, path: Path): Generator<Finding> {
  yield* each(headers, [...path, "headers"], namedMatchRules);
  if (method === undefined) return;
  const here = [...path, "method"];
  const { type, service, method: name } = method;
  if (service === undefined && name === undefined) {
    yield error(here, "needs a service or a method", "", "missing-field");
  }
  if (type !== "Exact") {
    if (service !== undefined) yield* expressionRules(service, [...here, "service"]);
    if (name !== undefined) yield* expressionRules(name, [...here, "method"]);
    return;
  }
  if (service !== undefined && !grpcService.test(service)) {
    yield error([...here, "service"], `${JSON.stringify(service)} is no name of a service`);
  }
  if (name !== undefined && !grpcMethod.test(name)) {
    yield error([...here, "method"], `${JSON.stringify(name)} is no name of a method`);
  }
}

/** Also of an XBackendTrafficPolicy. */
export function* persistenceRules(persistence: SessionPersistence | undefined, path: Path): Generator<Finding> {
  if (persistence === undefined) return;
  const { type, cookieConfig, cookie, header, absoluteTimeout } = persistence;
  const others = type === "Cookie" ? { header } : { cookieConfig, cookie };
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) yield error([...path, name], `has no meaning for type ${type}`, "", "conflicting-fields");
  }
  const isPermanent = [cookieConfig, cookie].some((one) => one?.lifetimeType === "Permanent");
  if (isPermanent && absoluteTimeout === undefined) {
    yield error([...path, "absoluteTimeout"], "is required for a permanent cookie", "", "missing-field");
  }
}
