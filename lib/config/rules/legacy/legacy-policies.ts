import { parseDuration } from "../../../base/duration.ts";
import type { ConfigMeta } from "../../config.ts";
import { error, type Finding, type Path } from "../../finding.ts";
import type { AuthenticationPolicy, LegacyJwt } from "../../kinds/legacy/authentication-policy.ts";
import type { DestinationPolicy } from "../../kinds/legacy/destination-policy.ts";
import type { EgressRule } from "../../kinds/legacy/egress-rule.ts";
import { jwksRules, jwksUriRules } from "../security/authentication.ts";
import { dnsLabelRules, duplicates, each, notNegative, percentRules, portRules } from "../values.ts";
import { isEgressDomain, isIpv4Cidr, istioServiceRules } from "./legacy-service.ts";

const httpProtocols: ReadonlySet<string> = new Set(["http", "http2", "grpc", "https"]);
const tcpProtocols: ReadonlySet<string> = new Set(["tcp", "mongo"]);
/** What 0.8 takes for a domain, Redis left out. */
const domainProtocols: ReadonlySet<string> = new Set([...httpProtocols, ...tcpProtocols]);

/** @see docs/how-istio-does-it/kind-rules.md#egressrule */
export function* egressRuleRules(spec: EgressRule): Generator<Finding> {
  const { destination, ports } = spec;
  for (const name of ["name", "namespace", "domain", "labels"] as const) {
    if (destination[name] !== undefined) yield error(["destination", name], "is not allowed", "give service only");
  }
  const { service = "" } = destination;
  const block = isIpv4Cidr(service);
  if (!block && !isEgressDomain(service)) {
    yield error(["destination", "service"], `${JSON.stringify(service)} is neither a domain name nor an IPv4 block`);
  }
  if (ports.length === 0) yield error(["ports"], "needs at least one port", "", "missing-field");
  for (const [index, port] of duplicates(ports.map((entry) => entry.port))) {
    yield error(["ports", index, "port"], `port ${port} is given twice`);
  }
  const known = block ? tcpProtocols : domainProtocols;
  yield* each(ports, ["ports"], function* ({ port, protocol }, path) {
    yield* portRules(port, [...path, "port"]);
    if (!known.has(protocol.toLowerCase())) {
      const kind = block ? "a block of addresses" : "a domain";
      yield error(
        [...path, "protocol"],
        `${JSON.stringify(protocol)} is not supported for ${kind}`,
        `known: ${[...known].join(", ")}`,
      );
    }
  });
  if (spec.useEgressProxy === true) yield error(["useEgressProxy"], "is not implemented");
}

/** @see docs/how-istio-does-it/kind-rules.md#destinationpolicy */
export function* destinationPolicyRules(spec: DestinationPolicy): Generator<Finding> {
  yield* istioServiceRules(spec.destination, ["destination"]);
  if (spec.source !== undefined) yield* istioServiceRules(spec.source, ["source"]);
  const { loadBalancing, circuitBreaker } = spec;
  if (loadBalancing !== undefined && loadBalancing.name === undefined && loadBalancing.custom === undefined) {
    yield error(["loadBalancing", "name"], "is required", "", "missing-field");
  }
  const breaker = circuitBreaker?.simpleCb;
  if (breaker === undefined) return;
  const path = ["circuitBreaker", "simpleCb"];
  for (const name of [
    "maxConnections",
    "httpMaxPendingRequests",
    "httpMaxRequests",
    "httpConsecutiveErrors",
    "httpMaxRequestsPerConnection",
    "httpMaxRetries",
  ] as const) {
    yield* notNegative(breaker[name], [...path, name]);
  }
  for (const name of ["sleepWindow", "httpDetectionInterval"] as const) {
    const nanos = parseDuration(breaker[name] ?? "");
    if (nanos === undefined || nanos < 1_000_000n) {
      yield error([...path, name], "is required, and at least 1ms", "both windows go with a breaker", "missing-field");
    }
  }
  yield* percentRules(breaker.httpMaxEjectionPercent, [...path, "httpMaxEjectionPercent"]);
}

/** @see docs/how-istio-does-it/kind-rules.md#authentication-policies */
export function* authenticationPolicyRules(spec: AuthenticationPolicy): Generator<Finding> {
  yield* each(spec.targets, ["targets"], function* (target, path) {
    yield* dnsLabelRules(target.name, [...path, "name"]);
    if (target.subset !== undefined) yield* dnsLabelRules(target.subset, [...path, "subset"]);
    yield* each(target.ports, [...path, "ports"], function* (port, at) {
      if (port.number !== undefined) yield* portRules(port.number, [...at, "number"]);
      else if (port.name === undefined) yield error(at, "needs number or name", "", "missing-field");
      else yield* dnsLabelRules(port.name, [...at, "name"]);
    });
  });
  const issuers = new Set<string>();
  for (const list of ["peers", "origins"] as const) {
    for (const [index, method] of (spec[list] ?? []).entries()) {
      if (method.jwt !== undefined) yield* jwtRules(method.jwt, [list, index, "jwt"], issuers);
    }
  }
}

function* jwtRules(jwt: LegacyJwt, path: Path, issuers: Set<string>): Generator<Finding> {
  const { issuer = "" } = jwt;
  if (issuer === "") yield error([...path, "issuer"], "is required", "", "missing-field");
  else if (issuers.has(issuer)) yield error([...path, "issuer"], `${JSON.stringify(issuer)} is already defined`);
  issuers.add(issuer);
  for (const name of ["audiences", "jwtHeaders", "jwtParams"] as const) {
    yield* each(jwt[name], [...path, name], function* (text, at) {
      if (text === "") yield error(at, "must not be empty");
    });
  }
  if (jwt.jwksUri !== undefined) yield* jwksUriRules(jwt.jwksUri, [...path, "jwksUri"]);
  if (jwt.jwks !== undefined) yield* jwksRules(jwt.jwks, [...path, "jwks"]);
}

/** A mesh-wide policy is the only one of its kind. */
export function* meshPolicyRules(spec: AuthenticationPolicy, meta: ConfigMeta): Generator<Finding> {
  yield* authenticationPolicyRules(spec);
  if (meta.name !== "default")
    yield error([], `a MeshPolicy must be named "default", not ${JSON.stringify(meta.name)}`);
  if (spec.targets !== undefined) yield error(["targets"], "a MeshPolicy has no targets");
}
