import { isFields } from "../../../base/untyped.ts";
import type { ConfigMeta } from "../../config.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import type {
  L4MatchAttributes,
  RouteDestination,
  TLSMatchAttributes,
  VirtualService,
} from "../../kinds/virtual-service.ts";
import { createHostSet, type HostSet } from "../../values/host-set.ts";
import { isIpAddress } from "../../values/ip-address.ts";
import { copiesRules, routesLength } from "../expansion.ts";
import { exportToRules } from "../export-to.ts";
import { gatewayNameRules } from "../gateways/gateway-names.ts";
import { isWildcardDomain } from "../names.ts";
import { sizeOfAllRules } from "../regex.ts";
import { dnsLabelRules, each, ipOrCidrRules, labelSetRules, portRules } from "../values.ts";
import { httpRouteRules } from "./http-route.ts";
import { destinationRules, weightRules } from "./route-destination.ts";
import { unreachableRules } from "./unreachable-routes.ts";

/** @see docs/how-istio-does-it/kind-rules.md#virtualservice */
export function* virtualServiceRules(spec: VirtualService, meta: ConfigMeta): Generator<Finding> {
  const gateways = spec.gateways ?? [];
  const boundToGateway = gateways.length > 0 && !gateways.includes("mesh");
  if (spec.hosts.length === 0) {
    for (const name of ["gateways", "tls", "tcp"] as const) {
      if (spec[name] === undefined) continue;
      yield error([name], "a VirtualService without hosts is a delegate, which has http routes only", "add hosts");
    }
  }
  if (spec.http === undefined && spec.tls === undefined && spec.tcp === undefined) {
    yield error([], "has no routes", "give at least one of http, tls and tcp", "missing-field");
  }
  const tooLarge = [...sizeOfAllRules(expressionsIn(spec.http), ["http"]), ...expansionRules(spec)];
  yield* tooLarge;
  if (tooLarge.length > 0) return;
  yield* gatewayNameRules(gateways, ["gateways"]);
  const hosts = createHostSet(spec.hosts);
  yield* hostRules(spec, hosts, boundToGateway);
  yield* exportToRules(spec.exportTo, meta.namespace);

  const isDelegate = spec.hosts.length === 0;
  yield* each(spec.http, ["http"], (route, path) => httpRouteRules(route, path, { isDelegate, boundToGateway }));
  yield* each(spec.tls, ["tls"], function* (route, path) {
    if (route.match.length === 0) yield error([...path, "match"], "a TLS route needs a match", "", "missing-field");
    yield* each(route.match, [...path, "match"], (match, at) => tlsMatchRules(match, at, hosts));
    yield* l4RouteRules(route.route, [...path, "route"], "TLS");
  });
  yield* each(spec.tcp, ["tcp"], function* (route, path) {
    yield* each(route.match, [...path, "match"], l4MatchRules);
    yield* l4RouteRules(route.route, [...path, "route"], "TCP");
  });
  yield* unreachableRules(spec);
}

/** Each host has a virtual host with all routes, for each gateway. */
function* expansionRules(spec: VirtualService): Generator<Finding> {
  const factors = { hosts: spec.hosts.length, gateways: spec.gateways?.length ?? 0 };
  if (factors.hosts < 2 && factors.gateways < 2) return;
  yield* copiesRules(routesLength(spec), factors, "routes", []);
}

/** Every regular expression, wherever it stands. */
function expressionsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(expressionsIn);
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "regex" && typeof member === "string" ? [member] : expressionsIn(member),
  );
}

const sniHost = /^outbound_\.(?:\d+)_\.[^_]*_\.(.+)$/;

function* hostRules(spec: VirtualService, hosts: HostSet, boundToGateway: boolean): Generator<Finding> {
  const hasSni = spec.tls?.some((route) => route.match.some((match) => match.sniHosts.length > 0)) ?? false;
  let valid = true;
  for (const [index, host] of spec.hosts.entries()) {
    const path = ["hosts", index];
    const name = boundToGateway && hasSni ? (sniHost.exec(host)?.[1] ?? host) : host;
    if (!isWildcardDomain(name) && !isIpAddress(name)) {
      valid = false;
      yield error(
        path,
        `${JSON.stringify(host)} is neither a domain name, with or without wildcard, nor an IP address`,
      );
    } else if (host === "*" && !boundToGateway) {
      valid = false;
      yield error(path, 'host "*" is not allowed for the mesh', "bind it to a gateway, or name the hosts");
    }
  }
  if (!valid) return;
  for (const [index, host] of spec.hosts.entries()) {
    const earlier = hosts.firstOverlap(index);
    if (earlier === index) continue;
    yield error(
      ["hosts", index],
      `${JSON.stringify(host)} overlaps with ${JSON.stringify(spec.hosts[earlier])}`,
      "keep one of them",
    );
  }
}

function* tlsMatchRules(match: TLSMatchAttributes, path: Path, hosts: HostSet): Generator<Finding> {
  if (match.sniHosts.length === 0) {
    yield error([...path, "sniHosts"], "a TLS match needs at least one SNI host", "", "missing-field");
  }
  for (const [index, sni] of match.sniHosts.entries()) {
    const at = [...path, "sniHosts", index];
    if (isIpAddress(sni)) {
      yield warning(at, `clients send no IP address as SNI: ${sni} will not match`);
      continue;
    }
    if (!isWildcardDomain(sni))
      yield error(at, `${JSON.stringify(sni)} is not a domain name, with or without wildcard`);
    if (!hosts.covers(sni)) {
      yield error(at, `${JSON.stringify(sni)} is not covered by any host of the VirtualService`, "add it to hosts");
    }
  }
  yield* l4MatchRules(match, path);
}

function* l4MatchRules(match: TLSMatchAttributes | L4MatchAttributes, path: Path): Generator<Finding> {
  yield* each(match.destinationSubnets, [...path, "destinationSubnets"], ipOrCidrRules);
  if (match.port !== undefined) yield* portRules(match.port, [...path, "port"]);
  yield* labelSetRules(match.sourceLabels, [...path, "sourceLabels"]);
  yield* gatewayNameRules(match.gateways ?? [], [...path, "gateways"]);
  if (match.sourceNamespace !== undefined) yield* dnsLabelRules(match.sourceNamespace, [...path, "sourceNamespace"]);
}

function* l4RouteRules(
  routes: readonly RouteDestination[] | undefined,
  path: Path,
  kind: "TLS" | "TCP",
): Generator<Finding> {
  if (routes === undefined) {
    yield error(path, `a ${kind} route needs a destination`, "", "missing-field");
    return;
  }
  yield* each(routes, path, (route, at) => destinationRules(route.destination, [...at, "destination"]));
  yield* weightRules(routes, path);
}
