import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import {
  type PolicyJson,
  PolicySchema,
  type RBAC_ActionJson,
  type RBACJson,
} from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { MetadataMatcherJson } from "../../../gen/envoy/type/matcher/v3/metadata_pb.ts";
import type { Config } from "../../config/config.ts";
import { byCodePoint, type Diagnostic, type Stage } from "../../config/diagnostic.ts";
import type { AuthorizationPolicy, Rule } from "../../config/kinds/authorization-policy.ts";
import { httpOnlyAnnotation } from "../../config/made-annotations.ts";
import { isDryRun } from "../../mesh/index/workload-policies.ts";
import { packAny } from "../core-messages.ts";
import { messageProblem } from "../descriptors.ts";
import {
  askedPolicyName,
  authorizerMark,
  authorizerShadowPrefix,
  dryRunShadowPrefix,
  rbacPolicyName,
  shadowPolicyKey,
  tcpFilterStatPrefix,
  unaskedPolicyName,
} from "../names.ts";
import type { ProviderLookups } from "../telemetry/provider-cluster.ts";
import { type Authorizer, findAuthorizer } from "./ext-authz.ts";
import { alwaysMatches, neverMatches, type RuleContext, rbacPolicy } from "./rbac-policy.ts";
/**
 * AuthorizationPolicies of a workload as filters: RBAC for AUDIT, DENY and ALLOW, and for CUSTOM a pair of an RBAC
 * filter that only marks the requests to ask about, and the external authorizer that is asked about those.
 * @see docs/how-istio-does-it/security.md#authorization
 * @see docs/how-istio-does-it/security.md#external-authorization
 */

/** The filters that go in front of everything else (CUSTOM), and those behind authentication (the rest). */
export interface AuthorizationFilters<Filter> {
  readonly custom: readonly Filter[];
  readonly builtIn: readonly Filter[];
}

type Policies = readonly Config<AuthorizationPolicy>[];
type Protocol = RuleContext["protocol"];

/** A filter of either protocol: both have a name and an open Any. */
interface NamedFilter {
  readonly name: string;
  readonly typedConfig: { readonly "@type": string };
}

/** For HTTP chains. Never errors: a provider that cannot be used becomes a refusal and a diagnostic. */
export function httpAuthorization(
  policies: Policies,
  lookups: ProviderLookups,
): Stage<AuthorizationFilters<HttpFilterJson>> {
  return authorization(policies, lookups, "http");
}

/** For TCP chains, where rules that need HTTP shrink (ALLOW) or grow (all others). */
export function tcpAuthorization(
  policies: Policies,
  lookups: ProviderLookups,
): Stage<AuthorizationFilters<FilterJson>> {
  const asked = policies.filter(
    ({ meta, madeFrom }) => madeFrom === undefined || meta.annotations[httpOnlyAnnotation] === undefined,
  );
  return authorization(asked, lookups, "tcp");
}

function authorization(
  policies: Policies,
  lookups: ProviderLookups,
  protocol: Protocol,
): Stage<AuthorizationFilters<NamedFilter>> {
  const custom = customFilters(
    policies.filter((policy) => policy.spec.action === "CUSTOM"),
    lookups,
    protocol,
  );
  const builtIn = (["LOG", "DENY", "ALLOW"] as const).flatMap((action): readonly NamedFilter[] => {
    const group = policies.filter((policy) => rbacAction(policy.spec) === action);
    return group.length === 0 ? [] : [builtInFilter(group, action, lookups, protocol)];
  });
  // The same policies are translated for both protocols: one of them speaks.
  const closed = protocol === "http" ? policies.flatMap((policy) => closedRules(policy, lookups)) : [];
  return { value: { custom: custom.value, builtIn }, diagnostics: [...custom.diagnostics, ...closed] };
}

/** Says which rules of a policy Envoy would refuse, with the whole listener. */
function closedRules(policy: Config<AuthorizationPolicy>, lookups: ProviderLookups): readonly Diagnostic[] {
  const allows = rbacAction(policy.spec) === "ALLOW";
  return (policy.spec.rules ?? []).flatMap((rule, index): readonly Diagnostic[] => {
    const translated = translatedRule(rule, contextOf(policy, allows, lookups, "http"));
    return translated?.problem === undefined ? [] : [ruleClosed(policy, index, translated.problem)];
  });
}

function rbacAction(policy: AuthorizationPolicy): RBAC_ActionJson | undefined {
  switch (policy.action) {
    case "AUDIT":
      return "LOG";
    case "DENY":
      return "DENY";
    case "CUSTOM":
      return undefined;
    default:
      return "ALLOW";
  }
}

function builtInFilter(
  policies: Policies,
  action: RBAC_ActionJson,
  lookups: ProviderLookups,
  protocol: Protocol,
): NamedFilter {
  const enforced = policies.filter((policy) => !isDryRun(policy));
  const shadow = policies.filter(isDryRun);
  const translate = (group: Policies): RBACJson =>
    rbac(action, policyMap(group, action === "ALLOW", plainName, lookups, protocol));
  const prefix = dryRunShadowPrefix(shadow.length === 0 || action === "ALLOW" ? "allow" : "deny");
  const auditsOnly = shadow.length > 0 && action === "LOG";
  return rbacFilter(protocol, {
    ...(enforced.length === 0 ? {} : { rules: translate(enforced) }),
    ...(shadow.length === 0 ? {} : { shadowRules: translate(shadow) }),
    ...(auditsOnly ? {} : { shadowRulesStatPrefix: prefix }),
  });
}

/** One pair per provider, by name; several providers on one workload are refused, as none can be chosen. */
function customFilters(
  policies: Policies,
  lookups: ProviderLookups,
  protocol: Protocol,
): Stage<readonly NamedFilter[]> {
  const byProvider = Map.groupBy(policies, (policy) => policy.spec.provider?.name ?? "");
  const names = [...byProvider.keys()].sort(byCodePoint);
  const diagnostics: Diagnostic[] = [];
  const value = names.flatMap((name): readonly NamedFilter[] => {
    const group = byProvider.get(name) ?? [];
    const found =
      names.length > 1
        ? { error: `the workload has policies of several extension providers: ${names.join(", ")}` }
        : findAuthorizer(name, lookups);
    if (!("error" in found)) return authorizerPair(name, group, found, lookups, protocol);
    // The same policies are translated for both protocols: one of them speaks.
    if (protocol === "http") diagnostics.push(...group.map((policy) => badProvider(policy, found.error)));
    return [rbacFilter(protocol, { rules: rbac("DENY", refusals(name, group, lookups, protocol)) })];
  });
  return { value, diagnostics };
}

function authorizerPair(
  provider: string,
  policies: Policies,
  authorizer: Authorizer,
  lookups: ProviderLookups,
  protocol: Protocol,
): readonly NamedFilter[] {
  if (protocol === "tcp" && authorizer.tcp === undefined) return [];
  const translate = (group: Policies): Record<string, PolicyJson> =>
    policyMap(group, false, (name) => askedPolicyName(provider, name), lookups, protocol);
  const dryRun = translate(policies.filter(isDryRun));
  const marker = rbacFilter(protocol, {
    ...(Object.keys(dryRun).length === 0 ? {} : { rules: rbac("DENY", dryRun) }),
    shadowRules: rbac("DENY", translate(policies.filter((policy) => !isDryRun(policy)))),
    shadowRulesStatPrefix: authorizerShadowPrefix,
  });
  const filterEnabledMetadata: MetadataMatcherJson = {
    filter: rbacName(protocol),
    path: [{ key: shadowPolicyKey(authorizerShadowPrefix) }],
    value: { stringMatch: { prefix: authorizerMark(provider) } },
  };
  const config = protocol === "tcp" ? authorizer.tcp : authorizer.http;
  const asked = {
    name: `envoy.filters.${filterKind(protocol)}.ext_authz`,
    typedConfig: packAny(`envoy.extensions.filters.${filterKind(protocol)}.ext_authz.v3.ExtAuthz`, {
      ...config,
      filterEnabledMetadata,
    }),
  };
  return [marker, asked];
}

/** What the provider would have been asked about, denied. */
function refusals(
  provider: string,
  policies: Policies,
  lookups: ProviderLookups,
  protocol: Protocol,
): Record<string, PolicyJson> {
  const enforced = policies.filter((policy) => !isDryRun(policy));
  const asked = policyMap(enforced, false, (name) => askedPolicyName(provider, name), lookups, protocol);
  return Object.fromEntries(Object.entries(asked).map(([name, policy]) => [unaskedPolicyName(name), policy]));
}

const plainName = (name: string): string => name;

/** Rules by `rbacPolicyName`, changed as `named` does; rules that cannot be kept are missing. */
function policyMap(
  policies: Policies,
  allows: boolean,
  named: (name: string) => string,
  lookups: ProviderLookups,
  protocol: Protocol,
): Record<string, PolicyJson> {
  const entries = policies.flatMap((config): readonly [string, PolicyJson][] => {
    const { meta, spec } = config;
    const context = contextOf(config, allows, lookups, protocol);
    const name = (rule: number): string => named(rbacPolicyName(meta, rule));
    const rules = spec.rules ?? [];
    if (rules.length === 0) return [[name(0), neverMatches]];
    return rules.flatMap((rule, index): readonly [string, PolicyJson][] => {
      const translated = translatedRule(rule, context);
      if (translated === undefined) return [];
      if (translated.problem === undefined) return [[name(index), translated.policy]];
      return spec.action === "AUDIT" ? [] : [[name(index), allows ? neverMatches : alwaysMatches]];
    });
  });
  return Object.fromEntries(entries);
}

function contextOf({ meta }: Config, allows: boolean, { mesh }: ProviderLookups, protocol: Protocol): RuleContext {
  return { namespace: meta.namespace, trustDomains: [mesh.trustDomain, ...mesh.trustDomainAliases], protocol, allows };
}

/** A rule as RBAC has it, and why Envoy would refuse it; undefined where it cannot be kept. */
function translatedRule(rule: Rule, context: RuleContext) {
  const policy = rbacPolicy(rule, context);
  return policy && { policy, problem: messageProblem(PolicySchema, policy) };
}

function ruleClosed(policy: Config<AuthorizationPolicy>, index: number, problem: string): Diagnostic {
  const isAllow = rbacAction(policy.spec) === "ALLOW";
  return {
    code: "security-closed",
    severity: "warning",
    origin: policy.origin,
    path: ["spec", "rules", index],
    message: `Envoy would refuse the rule (${problem}), so it fails closed: it ${isAllow ? "allows nothing" : "matches every request"}`,
    hint: "correct the rule",
  };
}

/** A filter that denies everything. */
export const denyingFilter = (protocol: Protocol) =>
  rbacFilter(protocol, { rules: rbac("DENY", { closed: alwaysMatches }) });

/** ALLOW is the enum's zero and not written; so is an empty map. */
function rbac(action: RBAC_ActionJson, policies: Record<string, PolicyJson>): RBACJson {
  return {
    ...(action === "ALLOW" ? {} : { action }),
    ...(Object.keys(policies).length === 0 ? {} : { policies }),
  };
}

function rbacFilter(protocol: Protocol, config: object): NamedFilter {
  const type = `envoy.extensions.filters.${filterKind(protocol)}.rbac.v3.RBAC`;
  const typedConfig = packAny(type, protocol === "tcp" ? { ...config, statPrefix: tcpFilterStatPrefix } : config);
  return { name: rbacName(protocol), typedConfig };
}

function rbacName(protocol: Protocol): string {
  return `envoy.filters.${filterKind(protocol)}.rbac`;
}

function filterKind(protocol: Protocol): "http" | "network" {
  return protocol === "tcp" ? "network" : "http";
}

function badProvider(policy: Config<AuthorizationPolicy>, reason: string): Diagnostic {
  return {
    code: "custom-provider-unusable",
    severity: "warning",
    origin: policy.origin,
    path: ["spec", "provider", "name"],
    message: `requests that match the policy are denied: ${reason}`,
    hint: "define the provider in the mesh configuration (extensionProviders), and use one per workload",
  };
}
