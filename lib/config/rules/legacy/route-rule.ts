import { durationMs } from "../../../base/duration.ts";
import { error, type Finding, type Path } from "../../finding.ts";
import type { IngressRule } from "../../kinds/legacy/ingress-rule.ts";
import type {
  DestinationWeight,
  LegacyCorsPolicy,
  LegacyHTTPFaultInjection,
  MatchCondition,
  RouteRule,
} from "../../kinds/legacy/route-rule.ts";
import { isIpOrCidr } from "../../values/ip-address.ts";
import { regexRules } from "../regex.ts";
import { each, labelSetRules, notNegative, percentRules, portRules } from "../values.ts";
import { istioServiceRules } from "./legacy-service.ts";

/** @see docs/how-istio-does-it/kind-rules.md#routerule */
export function* routeRuleRules(spec: RouteRule): Generator<Finding> {
  yield* routedDestinationRules(spec.destination);
  yield* matchConditionRules(spec.match, ["match"]);
  yield* redirectAndRewriteRules(spec);
  yield* weightRules(spec.route);
  if (spec.mirror !== undefined) yield* istioServiceRules(spec.mirror, ["mirror"]);
  for (const [name, value] of Object.entries(spec.appendHeaders ?? {})) {
    yield* lowerCaseNameRules(name, ["appendHeaders", name]);
    if (value === "") yield error(["appendHeaders", name], "must have a non-empty value");
  }
  yield* corsRules(spec.corsPolicy, ["corsPolicy"]);
  const { simpleTimeout } = spec.httpReqTimeout ?? {};
  if (simpleTimeout !== undefined && simpleTimeout.timeout === undefined) {
    yield error(["httpReqTimeout", "simpleTimeout", "timeout"], "is required", "", "missing-field");
  }
  const { simpleRetry } = spec.httpReqRetries ?? {};
  if (simpleRetry !== undefined) {
    const path = ["httpReqRetries", "simpleRetry"];
    yield* notNegative(simpleRetry.attempts, [...path, "attempts"]);
    if (simpleRetry.perTryTimeout === undefined) {
      yield error([...path, "perTryTimeout"], "is required", "", "missing-field");
    }
  }
  yield* faultRules(spec.httpFault, ["httpFault"]);
  if (spec.l4Fault !== undefined) yield error(["l4Fault"], "is not implemented");
}

/** Rules of IngressRules, which share destination and match. @see docs/how-istio-does-it/kind-rules.md#ingressrule */
export function* ingressRuleRules(spec: IngressRule): Generator<Finding> {
  yield* routedDestinationRules(spec.destination);
  yield* matchConditionRules(spec.match, ["match"]);
  const { destinationPort, destinationPortName } = spec;
  if ((destinationPort === undefined) === (destinationPortName === undefined)) {
    yield error(
      ["destinationPort"],
      "needs exactly one of destinationPort and destinationPortName",
      "",
      "missing-field",
    );
  }
  if (destinationPort !== undefined) yield* portRules(destinationPort, ["destinationPort"]);
}

function* routedDestinationRules(destination: RouteRule["destination"]): Generator<Finding> {
  yield* istioServiceRules(destination, ["destination"]);
  if (destination.labels !== undefined)
    yield error(["destination", "labels"], "are not allowed here", "put them into route");
}

function* matchConditionRules(match: MatchCondition | undefined, path: Path): Generator<Finding> {
  if (match === undefined) return;
  if (match.source !== undefined) yield* istioServiceRules(match.source, [...path, "source"]);
  if (match.udp !== undefined) yield error([...path, "udp"], "is not supported");
  for (const name of ["sourceSubnet", "destinationSubnet"] as const) {
    yield* each(match.tcp?.[name], [...path, "tcp", name], function* (subnet, at) {
      if (!isIpOrCidr(subnet) || subnet.includes(":"))
        yield error(at, `${JSON.stringify(subnet)} is no IPv4 address or block`);
    });
  }
  for (const [name, value] of Object.entries(match.request?.headers ?? {})) {
    const at = [...path, "request", "headers", name];
    yield* lowerCaseNameRules(name, at);
    const [text] = Object.values(value);
    if (text === undefined) yield error(at, "needs one of exact, prefix and regex", "", "missing-field");
    else if (name === "uri" && text === "") yield error(at, "must not be empty");
    if (value.regex !== undefined && value.regex !== "") yield* regexRules(value.regex, [...at, "regex"]);
  }
}

function* lowerCaseNameRules(name: string, path: Path): Generator<Finding> {
  if (name === "") yield error(path, "a header name must not be empty");
  else if (!/^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/.test(name)) {
    yield error(path, `${JSON.stringify(name)} is not a header name in lower case`);
  }
}

function* redirectAndRewriteRules(spec: RouteRule): Generator<Finding> {
  for (const name of ["redirect", "rewrite"] as const) {
    const part = spec[name];
    if (part !== undefined && part.uri === undefined && part.authority === undefined) {
      yield error([name], "needs uri or authority", "", "missing-field");
    }
  }
  if (spec.redirect === undefined) return;
  for (const name of ["route", "httpFault", "rewrite", "websocketUpgrade"] as const) {
    if (spec[name] === undefined) continue;
    yield error([name], `${name} and redirect exclude each other`, "keep one of them", "conflicting-fields");
  }
}

function* weightRules(route: readonly DestinationWeight[] | undefined): Generator<Finding> {
  if (route === undefined) return;
  let total = 0;
  for (const [index, entry] of route.entries()) {
    const path = ["route", index];
    yield* percentRules(entry.weight, [...path, "weight"]);
    if (entry.destination !== undefined) yield* istioServiceRules(entry.destination, [...path, "destination"]);
    yield* labelSetRules(entry.labels, [...path, "labels"]);
    total += entry.weight ?? 0;
  }
  const alone = route.length === 1 && total === 0;
  if (total !== 100 && !alone) yield error(["route"], `the weights add up to ${total}`, "make them add up to 100");
}

function* faultRules(fault: LegacyHTTPFaultInjection | undefined, path: Path): Generator<Finding> {
  if (fault === undefined) return;
  const { delay, abort } = fault;
  if (delay !== undefined) {
    const at = [...path, "delay"];
    yield* percentRules(delay.percent, [...at, "percent"]);
    if (delay.exponentialDelay !== undefined)
      yield error([...at, "exponentialDelay"], "is not supported", "use fixedDelay");
    else if (delay.fixedDelay === undefined) yield error([...at, "fixedDelay"], "is required", "", "missing-field");
  }
  if (abort !== undefined) {
    const at = [...path, "abort"];
    yield* percentRules(abort.percent, [...at, "percent"]);
    if (abort.grpcStatus !== undefined) yield error([...at, "grpcStatus"], "is not supported", "use httpStatus");
    const { httpStatus } = abort;
    if (httpStatus !== undefined && (httpStatus < 0 || httpStatus > 600)) {
      yield error([...at, "httpStatus"], `${httpStatus} is not between 0 and 600`);
    }
  }
}

const methods: ReadonlySet<string> = new Set("GET HEAD POST PUT PATCH DELETE CONNECT OPTIONS TRACE".split(" "));

function* corsRules(cors: LegacyCorsPolicy | undefined, path: Path): Generator<Finding> {
  if (cors === undefined) return;
  yield* each(cors.allowMethods, [...path, "allowMethods"], function* (method, at) {
    if (!methods.has(method)) yield error(at, `${JSON.stringify(method)} is not an HTTP method`);
  });
  for (const name of ["allowHeaders", "exposeHeaders"] as const) {
    yield* each(cors[name], [...path, name], lowerCaseNameRules);
  }
  if (cors.maxAge !== undefined && durationMs(cors.maxAge) % 1000 !== 0) {
    yield error([...path, "maxAge"], `${cors.maxAge} is not a whole number of seconds`);
  }
}
