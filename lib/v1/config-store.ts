import { byCodePoint } from "../base/diagnostic.ts";
import { type Config, keyOf } from "../config/config.ts";
import type { DestinationPolicy } from "../config/kinds/legacy/destination-policy.ts";
import type { EgressRule } from "../config/kinds/legacy/egress-rule.ts";
import type { IstioService } from "../config/kinds/legacy/istio-service.ts";
import type { HTTPAPISpec, QuotaSpec, SpecReference } from "../config/kinds/legacy/mixer-client.ts";
import type { RouteRule } from "../config/kinds/legacy/route-rule.ts";
import { hostsOverlap } from "../config/values/host-name.ts";
import { sameLabels } from "../config/values/labels.ts";
import type { Labels } from "../legacy/service-key.ts";
import type { LegacyConfigs, LegacyInstance } from "./legacy-world.ts";
import { resolveHost } from "./resolve-host.ts";
import { anyLabels, type RunsHere } from "./runs-here.ts";

/** `namespace/name`: the part of the store's key that orders objects of one kind. */
export function objectKey(config: Config): string {
  const { namespace, name } = keyOf(config);
  return `${namespace}/${name}`;
}

/** By key, as the release's store compares them. */
export const byKey = (a: Config, b: Config): number => byCodePoint(objectKey(a), objectKey(b));

/**
 * RouteRules for a host, in the order in which they are tried: precedence, then key.
 * A rule with a source applies if one of the proxy's instances is of that source.
 */
export function routeRulesFor(configs: LegacyConfigs, hostname: string, here: RunsHere): readonly Config<RouteRule>[] {
  return configs.routeRules
    .filter(
      (rule) =>
        resolveHost(rule.meta, rule.spec.destination) === hostname &&
        matchesSource(rule, rule.spec.match?.source, here),
    )
    .sort(byPrecedence);
}

/** Which of the rules and policies that ask for a source have one of the instances for it. */
export function matchedSources(configs: LegacyConfigs, here: RunsHere): readonly string[] {
  const sources = [
    ...configs.routeRules.map((rule) => ({ config: rule, source: rule.spec.match?.source })),
    ...configs.destinationPolicies.map((policy) => ({ config: policy, source: policy.spec.source })),
  ];
  return sources
    .filter(({ config, source }) => source !== undefined && matchesSource(config, source, here))
    .map(({ config }) => `${config.meta.kind}/${objectKey(config)}`);
}

/** RouteRules whose destination one of the instances serves, whatever source they ask for. */
export function routeRulesServedBy(
  configs: LegacyConfigs,
  instances: readonly LegacyInstance[],
): readonly Config<RouteRule>[] {
  return configs.routeRules
    .filter((rule) => {
      const destination = resolveHost(rule.meta, rule.spec.destination);
      return instances.some((instance) => hostsOverlap(destination, instance.service.hostname));
    })
    .sort(byPrecedence);
}

const byPrecedence = (a: Config<RouteRule>, b: Config<RouteRule>): number =>
  (b.spec.precedence ?? 0) - (a.spec.precedence ?? 0) || byKey(a, b);

/** Is one of the instances of the service that the source names, with its labels? No source: always. */
function matchesSource(config: Config, source: IstioService | undefined, here: RunsHere): boolean {
  return source === undefined || here.isOf(resolveHost(config.meta, source), source.labels ?? anyLabels);
}

/** The one policy of a cluster: among those that apply, the one with the smallest key; policies never add up. */
export function destinationPolicyFor(
  configs: LegacyConfigs,
  hostname: string,
  labels: Labels | undefined,
  here: RunsHere,
): DestinationPolicy | undefined {
  const [first] = configs.destinationPolicies
    .filter(
      (policy) =>
        matchesSource(policy, policy.spec.source, here) &&
        resolveHost(policy.meta, policy.spec.destination) === hostname &&
        sameLabels(labels ?? {}, policy.spec.destination.labels ?? {}),
    )
    .sort(byKey);
  return first?.spec;
}

/** Protocols that egress rules give to a connection manager. */
const httpProtocols: ReadonlySet<string> = new Set(["HTTP", "HTTP2", "GRPC", "HTTPS"]);

/** Is the protocol, in any case, one that is routed as HTTP? */
export const isHttpEgress = (protocol: string): boolean => httpProtocols.has(protocol.toUpperCase());

/**
 * Egress rules that do not contradict an earlier one, in key order: a destination belongs to the first rule that names it,
 * a port to the protocol of the first rule that uses it. A rule that contradicts is left out as a whole.
 */
export function egressRules(configs: LegacyConfigs): readonly Config<EgressRule>[] {
  const destinations = new Set<string>();
  const unique = [...configs.egressRules].sort(byKey).filter((rule) => {
    const destination = rule.spec.destination.service ?? "";
    if (destinations.has(destination)) return false;
    destinations.add(destination);
    return true;
  });
  const protocols = new Map<number, string>();
  return unique.filter((rule) =>
    rule.spec.ports.every(({ port, protocol }) => {
      const protocolClass = isHttpEgress(protocol) ? "HTTP" : protocol.toUpperCase();
      const taken = protocols.get(port);
      if (taken !== undefined && taken !== protocolClass) return false;
      protocols.set(port, protocolClass);
      return true;
    }),
  );
}

/** Mixer API specs that are bound to a host, by key. */
export function httpApiSpecsFor(configs: LegacyConfigs, hostname: string): readonly HTTPAPISpec[] {
  const bound = boundSpecs(configs.httpApiSpecBindings, (spec) => spec.apiSpecs, hostname);
  return pick(configs.httpApiSpecs, bound);
}

/** Mixer quota specs that are bound to a host, by key. */
export function quotaSpecsFor(configs: LegacyConfigs, hostname: string): readonly QuotaSpec[] {
  const bound = boundSpecs(configs.quotaSpecBindings, (spec) => spec.quotaSpecs, hostname);
  return pick(configs.quotaSpecs, bound);
}

function boundSpecs<Binding extends { readonly services: readonly IstioService[] }>(
  bindings: readonly Config<Binding>[],
  specsOf: (binding: Binding) => readonly SpecReference[],
  hostname: string,
): ReadonlySet<string> {
  return new Set(
    bindings
      .filter((binding) => binding.spec.services.some((service) => resolveHost(binding.meta, service) === hostname))
      .flatMap((binding) => specsOf(binding.spec).map((spec) => `${spec.namespace ?? ""}/${spec.name ?? ""}`)),
  );
}

function pick<Spec>(specs: readonly Config<Spec>[], keys: ReadonlySet<string>): readonly Spec[] {
  return specs
    .filter((spec) => keys.has(objectKey(spec)))
    .sort(byKey)
    .map((spec) => spec.spec);
}
