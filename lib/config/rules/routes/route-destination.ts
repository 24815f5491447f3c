import { error, type Finding, type Path } from "../../finding.ts";
import type { Destination } from "../../kinds/virtual-service.ts";
import { dnsLabelRules, portRules, wildcardDomainRules } from "../values.ts";

/** Where traffic goes. Whether the place exists is nobody's concern here. */
export function* destinationRules(destination: Destination, path: Path): Generator<Finding> {
  const { host, subset, port } = destination;
  if (host === "*") yield error([...path, "host"], 'a destination cannot be "*"');
  else yield* wildcardDomainRules(host, [...path, "host"]);
  if (subset !== undefined) yield* dnsLabelRules(subset, [...path, "subset"]);
  if (port !== undefined) yield* portRules(port.number ?? 0, [...path, "port", "number"]);
}

/** Shares of several destinations; they need not add up to 100. */
export function* weightRules(routes: readonly { readonly weight?: number }[], path: Path): Generator<Finding> {
  let total = 0;
  for (const [index, { weight = 0 }] of routes.entries()) {
    if (weight < 0) yield error([...path, index, "weight"], `${weight} must not be negative`);
    total += weight;
  }
  if (routes.length > 1 && total === 0) {
    yield error(path, "all weights are 0", "give each destination its share");
  }
}
