import { byAge, type Config, keyOf } from "../config/config.ts";
import { byCodePoint, keyText } from "../config/diagnostic.ts";
import { fullHostName, isSubsetHost } from "../config/host-name.ts";
import type { AuthenticationPolicy } from "../config/kinds/authentication-policy.ts";
import type { AuthorizationPolicy } from "../config/kinds/authorization-policy.ts";
import type { DestinationPolicy } from "../config/kinds/destination-policy.ts";
import type { DestinationRule } from "../config/kinds/destination-rule.ts";
import type { EgressRule } from "../config/kinds/egress-rule.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { IstioService } from "../config/kinds/istio-service.ts";
import type {
  HTTPAPISpec,
  HTTPAPISpecBinding,
  QuotaSpec,
  QuotaSpecBinding,
  SpecReference,
} from "../config/kinds/mixer-client.ts";
import type { RouteRule } from "../config/kinds/route-rule.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import type { RbacConfig, ServiceRole, ServiceRoleBinding } from "../config/kinds/service-role.ts";
import type { VirtualService } from "../config/kinds/virtual-service.ts";
import { isSubset, type Labels, sameLabels } from "../config/labels.ts";
import type { ConfigStore } from "./config-store.ts";

/** A workload that asks: the service it backs, and its labels. */
export interface SourceInstance {
  readonly hostname: string;
  readonly labels: Labels;
}

/** Typed views of a store; they hold nothing themselves. @see docs/how-istio-does-it/config-stores.md#typed-reads */
export interface IstioConfigStore {
  serviceEntries(): Promise<readonly Config<ServiceEntry>[]>;
  /** Oldest first; a Gateway without selector applies to every workload. */
  gateways(workloadLabels: Labels): Promise<readonly Config<Gateway>[]>;
  /** Oldest first: bound to one of the gateways; a VirtualService that names none is bound to `mesh`. */
  virtualServices(gateways: readonly string[]): Promise<readonly Config<VirtualService>[]>;
  /** The rule with the most specific host for a host name. */
  destinationRule(hostname: string): Promise<Config<DestinationRule> | undefined>;
  /** Labels of a subset of a host; none for the empty subset. */
  subsetToLabels(subset: string, hostname: string): Promise<Labels | undefined>;
  egressRules(): Promise<readonly Config<EgressRule>[]>;
  /** Rules for a destination that apply to these sources: higher precedence first, ties by key. */
  routeRules(sources: readonly SourceInstance[], destination: string): Promise<readonly Config<RouteRule>[]>;
  /** Rules whose destination is one of these hosts, in the same order. */
  routeRulesByDestination(hostnames: readonly string[]): Promise<readonly Config<RouteRule>[]>;
  /** Exactly these labels; ties by key. */
  destinationPolicy(
    sources: readonly SourceInstance[],
    destination: string,
    labels: Labels,
  ): Promise<Config<DestinationPolicy> | undefined>;
  httpApiSpecsByDestination(hostname: string): Promise<readonly Config<HTTPAPISpec>[]>;
  quotaSpecsByDestination(hostname: string): Promise<readonly Config<QuotaSpec>[]>;
  /** The policy for a port of a service: by service and port, by service, by namespace. */
  authenticationPolicyByDestination(
    hostname: string,
    port: { readonly name: string; readonly number: number },
  ): Promise<Config<AuthenticationPolicy> | undefined>;
  serviceRoles(namespace: string): Promise<readonly Config<ServiceRole>[]>;
  serviceRoleBindings(namespace: string): Promise<readonly Config<ServiceRoleBinding>[]>;
  rbacConfig(): Promise<Config<RbacConfig> | undefined>;
  clusterRbacConfig(): Promise<Config<RbacConfig> | undefined>;
  authorizationPolicies(namespace: string): Promise<readonly Config<AuthorizationPolicy>[]>;
}

/**
 * Full name of a service that an object mentions, completed with the object's namespace and domain.
 * @see docs/how-istio-does-it/names.md#short-names
 */
function resolveIstioService(service: IstioService, config: Config): string {
  if (service.service !== undefined) return service.service;
  const { name = "", namespace = config.meta.namespace, domain } = service;
  const rest = domain ?? (config.meta.domain === "" ? "" : `svc.${config.meta.domain}`);
  return [name, namespace, rest].filter((part) => part !== "").join(".");
}

const byKey = (a: Config, b: Config): number => byCodePoint(keyText(keyOf(a)), keyText(keyOf(b)));

function sourceMatches(source: IstioService | undefined, sources: readonly SourceInstance[], config: Config): boolean {
  if (source === undefined) return true;
  const hostname = resolveIstioService(source, config);
  return sources.some((instance) => instance.hostname === hostname && isSubset(source.labels ?? {}, instance.labels));
}

export function istioConfigStore(store: ConfigStore): IstioConfigStore {
  // A store hands out what the kind's own schema has read, so the kind says the type of the spec.
  const list = async <Spec>(kind: string, namespace?: string) =>
    (await store.list(kind, namespace)) as readonly Config<Spec>[];
  const only = async <Spec>(kind: string) => (await list<Spec>(kind)).find((config) => config.meta.name === "default");

  const routeRules = async (matches: (rule: Config<RouteRule>) => boolean) =>
    (await list<RouteRule>("RouteRule"))
      .filter(matches)
      .sort((a, b) => (b.spec.precedence ?? 0) - (a.spec.precedence ?? 0) || byKey(a, b));
  const destinationOf = (rule: Config<RouteRule>) => resolveIstioService(rule.spec.destination, rule);

  const destinationRule = async (hostname: string) => {
    const rules = await list<DestinationRule>("DestinationRule");
    const matching = rules
      .map((rule) => ({ rule, host: fullHostName(rule.spec.host, rule.meta.namespace, rule.meta.domain) }))
      .filter(({ host }) => isSubsetHost(hostname, host));
    // Exact names first, then the longer wildcard; the older of equals.
    matching.sort(
      (a, b) =>
        Number(a.host.startsWith("*")) - Number(b.host.startsWith("*")) ||
        b.host.length - a.host.length ||
        byAge(a.rule, b.rule),
    );
    return matching[0]?.rule;
  };

  const bound = async <Spec, Binding extends { readonly services: readonly IstioService[] }>(
    hostname: string,
    kind: string,
    bindingKind: string,
    references: (binding: Binding) => readonly SpecReference[],
  ) => {
    const wanted = new Set<string>();
    for (const binding of await list<Binding>(bindingKind)) {
      if (!binding.spec.services.some((service) => serviceCovers(service, hostname, binding))) continue;
      for (const { name = "", namespace = binding.meta.namespace } of references(binding.spec)) {
        wanted.add(`${namespace}/${name}`);
      }
    }
    return (await list<Spec>(kind))
      .filter((config) => wanted.has(`${config.meta.namespace}/${config.meta.name}`))
      .sort(byKey);
  };

  return {
    serviceEntries: () => list("ServiceEntry"),
    async gateways(labels) {
      const gateways = await list<Gateway>("Gateway");
      return gateways.filter(({ spec }) => isSubset(spec.selector ?? {}, labels)).sort(byAge);
    },
    async virtualServices(gateways) {
      const wanted = new Set(gateways);
      const services = await list<VirtualService>("VirtualService");
      return services.filter(({ spec }) => (spec.gateways ?? ["mesh"]).some((name) => wanted.has(name))).sort(byAge);
    },
    destinationRule,
    async subsetToLabels(subset, hostname) {
      if (subset === "") return undefined;
      const rule = await destinationRule(hostname);
      const found = rule?.spec.subsets?.find(({ name }) => name === subset);
      return found === undefined ? undefined : (found.labels ?? {});
    },
    egressRules: () => list("EgressRule"),
    routeRules: (sources, destination) =>
      routeRules(
        (rule) => destinationOf(rule) === destination && sourceMatches(rule.spec.match?.source, sources, rule),
      ),
    routeRulesByDestination: (hostnames) => routeRules((rule) => hostnames.includes(destinationOf(rule))),
    async destinationPolicy(sources, destination, labels) {
      const policies = await list<DestinationPolicy>("DestinationPolicy");
      return policies
        .filter(
          (policy) =>
            resolveIstioService(policy.spec.destination, policy) === destination &&
            sameLabels(policy.spec.destination.labels ?? {}, labels) &&
            sourceMatches(policy.spec.source, sources, policy),
        )
        .sort(byKey)[0];
    },
    httpApiSpecsByDestination: (hostname) =>
      bound<HTTPAPISpec, HTTPAPISpecBinding>(hostname, "HTTPAPISpec", "HTTPAPISpecBinding", (spec) => spec.apiSpecs),
    quotaSpecsByDestination: (hostname) =>
      bound<QuotaSpec, QuotaSpecBinding>(hostname, "QuotaSpec", "QuotaSpecBinding", (spec) => spec.quotaSpecs),
    async authenticationPolicyByDestination(hostname, port) {
      const [name = "", namespace = ""] = hostname.split(".");
      const policies = await list<AuthenticationPolicy>("Policy", namespace);
      const level = (policy: Config<AuthenticationPolicy>): number => {
        const { targets } = policy.spec;
        if (targets === undefined) return 1;
        const target = targets.find((candidate) => candidate.name === name);
        if (target === undefined) return 0;
        if (target.ports === undefined) return 2;
        return target.ports.some((entry) => entry.number === port.number || entry.name === port.name) ? 3 : 0;
      };
      let best: Config<AuthenticationPolicy> | undefined;
      for (const policy of policies) {
        if (level(policy) > (best === undefined ? 0 : level(best))) best = policy;
      }
      return best;
    },
    serviceRoles: (namespace) => list("ServiceRole", namespace),
    serviceRoleBindings: (namespace) => list("ServiceRoleBinding", namespace),
    rbacConfig: () => only("RbacConfig"),
    clusterRbacConfig: () => only("ClusterRbacConfig"),
    authorizationPolicies: (namespace) => list("AuthorizationPolicy", namespace),
  };
}

/**
 * `*` covers every service, `*.ns.*` those whose name has the middle part.
 * @see docs/how-istio-does-it/config-stores.md#bindings-of-mixers-specs
 */
function serviceCovers(service: IstioService, hostname: string, binding: Config): boolean {
  const name = service.service;
  if (name === "*") return true;
  if (name?.startsWith("*.") && name.endsWith(".*")) return hostname.includes(name.slice(1, -1));
  return resolveIstioService(service, binding) === hostname;
}
