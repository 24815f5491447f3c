import { error, type Finding, type Path } from "../../finding.ts";
import type { IstioService } from "../../kinds/legacy/istio-service.ts";
import { isCidr } from "../../values/ip-address.ts";
import { isFqdn } from "../names.ts";
import { dnsLabelRules, labelSetRules } from "../values.ts";

/** `*`, or a domain whose first label may begin with `*`, `*.` or `*-`. */
export function isEgressDomain(domain: string): boolean {
  if (domain === "*") return true;
  const rest = domain.replace(/^\*[.-]?/, "");
  return isFqdn(rest);
}

export function isIpv4Cidr(text: string): boolean {
  return isCidr(text) && !text.includes(":");
}

/** @see docs/how-istio-does-it/kind-rules.md#legacy-service-references */
export function* istioServiceRules(service: IstioService, path: Path): Generator<Finding> {
  const { name, namespace, domain, service: full, labels } = service;
  if (name === undefined && full === undefined) yield error(path, "needs name or service", "", "missing-field");
  if (name !== undefined && full !== undefined) {
    yield error(path, "name and service exclude each other", "keep one of them", "conflicting-fields");
  }
  if (full !== undefined) {
    if (namespace !== undefined)
      yield error([...path, "namespace"], "has no meaning beside service", "", "conflicting-fields");
    if (domain !== undefined)
      yield error([...path, "domain"], "has no meaning beside service", "", "conflicting-fields");
    if (!isIpv4Cidr(full) && !isEgressDomain(full)) {
      yield error([...path, "service"], `${JSON.stringify(full)} is neither a domain name nor an IPv4 block`);
    }
  }
  if (name !== undefined) yield* dnsLabelRules(name, [...path, "name"]);
  if (namespace !== undefined) yield* dnsLabelRules(namespace, [...path, "namespace"]);
  if (domain !== undefined && !isFqdn(domain))
    yield error([...path, "domain"], `${JSON.stringify(domain)} is not a domain name`);
  yield* labelSetRules(labels, [...path, "labels"]);
}
