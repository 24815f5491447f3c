import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import {
  type PolicyJson,
  PolicySchema,
  type RBAC_ActionJson,
  type RBACJson,
} from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { MetadataMatcherJson } from "../../../gen/envoy/type/matcher/v3/metadata_pb.ts";
import { byCodePoint, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import { type Config, writtenPath } from "../../config/config.ts";
import { isDryRun } from "../../config/dry-run.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import { httpOnlyAnnotation } from "../../config/made-annotations.ts";
import { messageProblem } from "../../descriptors/messages.ts";
import { packAny } from "../core-messages.ts";
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

type Policy = Config<AuthorizationPolicy>;
type Protocol = RuleContext["protocol"];

/** A policy whose rules are as RBAC has them. */
interface TranslatedPolicy {
  readonly policy: Policy;
  readonly rules: readonly TranslatedRule[];
}

interface TranslatedRule {
  /** Among the rules of the policy; those that cannot be kept are missing. */
  readonly index: number;
  readonly translated: PolicyJson;
  /** Why Envoy would refuse it, with the whole listener; undefined: it takes it. */
  readonly problem: string | undefined;
}

/** A filter of either protocol: both have a name and an open Any. */
interface NamedFilter {
  readonly name: string;
  readonly typedConfig: { readonly "@type": string };
}

/** For HTTP chains. Never errors: a provider that cannot be used becomes a refusal and a diagnostic. */
export function httpAuthorization(
  policies: readonly Policy[],
  lookups: ProviderLookups,
): Stage<AuthorizationFilters<HttpFilterJson>> {
  return authorization(policies, lookups, "http");
}

/** For TCP chains, where rules that need HTTP shrink (ALLOW) or grow (all others). */
export function tcpAuthorization(
  policies: readonly Policy[],
  lookups: ProviderLookups,
): Stage<AuthorizationFilters<FilterJson>> {
  const asked = policies.filter(
    ({ meta, madeFrom }) => madeFrom === undefined || meta.annotations[httpOnlyAnnotation] === undefined,
  );
  return authorization(asked, lookups, "tcp");
}

function authorization(
  policies: readonly Policy[],
  lookups: ProviderLookups,
  protocol: Protocol,
): Stage<AuthorizationFilters<NamedFilter>> {
  const translated = policies.map((policy) => translatedPolicy(policy, lookups, protocol));
  const custom = customFilters(
    translated.filter(({ policy }) => policy.spec.action === "CUSTOM"),
    lookups,
    protocol,
  );
  const builtIn = (["LOG", "DENY", "ALLOW"] as const).flatMap((action): readonly NamedFilter[] => {
    const group = translated.filter(({ policy }) => rbacAction(policy.spec) === action);
    return group.length === 0 ? [] : [builtInFilter(group, action, protocol)];
  });
  // The same policies are translated for both protocols: one of them speaks.
  const refused = protocol === "http" ? translated.flatMap(refusedRules) : [];
  return { value: { custom: custom.value, builtIn }, diagnostics: [...custom.diagnostics, ...refused] };
}

function translatedPolicy(policy: Policy, { mesh }: ProviderLookups, protocol: Protocol): TranslatedPolicy {
  const context: RuleContext = {
    namespace: policy.meta.namespace,
    trustDomains: [mesh.trustDomain, ...mesh.trustDomainAliases],
    protocol,
    allows: rbacAction(policy.spec) === "ALLOW",
  };
  const rules = (policy.spec.rules ?? []).flatMap((rule, index): readonly TranslatedRule[] => {
    const translated = rbacPolicy(rule, context);
    return translated === undefined ? [] : [{ index, translated, problem: messageProblem(PolicySchema, translated) }];
  });
  return { policy, rules };
}

/** Says which rules of a policy Envoy would refuse, with the whole listener. */
function refusedRules({ policy, rules }: TranslatedPolicy): readonly Diagnostic[] {
  return rules.flatMap(({ index, problem }) => (problem === undefined ? [] : [ruleRefused(policy, index, problem)]));
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
  policies: readonly TranslatedPolicy[],
  action: RBAC_ActionJson,
  protocol: Protocol,
): NamedFilter {
  const { enforced, shadow } = byDryRun(policies);
  const prefix = dryRunShadowPrefix(shadow.length === 0 || action === "ALLOW" ? "allow" : "deny");
  const auditsOnly = shadow.length > 0 && action === "LOG";
  return rbacFilter(protocol, {
    ...(enforced.length === 0 ? {} : { rules: rbac(action, policyMap(enforced)) }),
    ...(shadow.length === 0 ? {} : { shadowRules: rbac(action, policyMap(shadow)) }),
    ...(auditsOnly ? {} : { shadowRulesStatPrefix: prefix }),
  });
}

/** Those that count, and those that are only tried out. */
function byDryRun(policies: readonly TranslatedPolicy[]) {
  return {
    enforced: policies.filter(({ policy }) => !isDryRun(policy.meta.annotations)),
    shadow: policies.filter(({ policy }) => isDryRun(policy.meta.annotations)),
  };
}

/** One pair per provider, by name; several providers on one workload are refused unless a switch allows them. */
function customFilters(
  policies: readonly TranslatedPolicy[],
  lookups: ProviderLookups,
  protocol: Protocol,
): Stage<readonly NamedFilter[]> {
  const byProvider = Map.groupBy(policies, ({ policy }) => policy.spec.provider?.name ?? "");
  const names = [...byProvider.keys()].sort(byCodePoint);
  const diagnostics: Diagnostic[] = [];
  const value = names.flatMap((name): readonly NamedFilter[] => {
    const group = byProvider.get(name) ?? [];
    const found =
      names.length > 1 && !lookups.mesh.rules.allowsSeveralAuthorizers
        ? { error: `the workload has policies of several extension providers: ${names.join(", ")}`, hint: severalHint }
        : findAuthorizer(name, lookups);
    if (!("error" in found)) return authorizerPair(name, group, found, protocol);
    // The same policies are translated for both protocols: one of them speaks.
    if (protocol === "http") diagnostics.push(...group.map(({ policy }) => badProvider(policy, found)));
    return [rbacFilter(protocol, { rules: rbac("DENY", refusals(name, group)) })];
  });
  return { value, diagnostics };
}

function authorizerPair(
  provider: string,
  policies: readonly TranslatedPolicy[],
  authorizer: Authorizer,
  protocol: Protocol,
): readonly NamedFilter[] {
  if (protocol === "tcp" && authorizer.tcp === undefined) return [];
  const { enforced, shadow } = byDryRun(policies);
  const named = (name: string): string => askedPolicyName(provider, name);
  const dryRun = policyMap(shadow, named);
  const marker = rbacFilter(protocol, {
    ...(Object.keys(dryRun).length === 0 ? {} : { rules: rbac("DENY", dryRun) }),
    shadowRules: rbac("DENY", policyMap(enforced, named)),
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
function refusals(provider: string, policies: readonly TranslatedPolicy[]): Record<string, PolicyJson> {
  return policyMap(byDryRun(policies).enforced, (name) => unaskedPolicyName(askedPolicyName(provider, name)));
}

/** Rules by `rbacPolicyName`, changed as `named` does; one that Envoy would refuse has another in its place, or none. */
function policyMap(
  policies: readonly TranslatedPolicy[],
  named = (name: string): string => name,
): Record<string, PolicyJson> {
  const entries = policies.flatMap(({ policy: { meta, spec }, rules }): readonly [string, PolicyJson][] => {
    const name = (rule: number): string => named(rbacPolicyName(meta, rule));
    if ((spec.rules ?? []).length === 0) return [[name(0), neverMatches]];
    return rules.flatMap(({ index, translated, problem }): readonly [string, PolicyJson][] => {
      const kept = problem === undefined ? translated : inPlaceOfRefused(spec);
      return kept === undefined ? [] : [[name(index), kept]];
    });
  });
  return Object.fromEntries(entries);
}

/** What stands in place of a rule that Envoy would refuse; undefined where nothing does, since the rule protects nothing. */
function inPlaceOfRefused(policy: AuthorizationPolicy): PolicyJson | undefined {
  if (policy.action === "AUDIT") return undefined;
  return rbacAction(policy) === "ALLOW" ? neverMatches : alwaysMatches;
}

/** @returns `security-closed`, for an AUDIT policy `no-effect` */
function ruleRefused(policy: Policy, index: number, problem: string): Diagnostic {
  const said = {
    severity: "warning",
    origin: policy.origin,
    path: writtenPath(policy, ["spec", "rules", index]),
    hint: "correct the rule",
  } as const;
  const refused = `Envoy would refuse the rule (${problem})`;
  switch (rbacAction(policy.spec)) {
    case "LOG":
      return {
        ...said,
        code: "no-effect",
        message: `${refused}, so it is left out: no request is marked for the access log by it`,
      };
    case "ALLOW":
      return { ...said, code: "security-closed", message: `${refused}, so it fails closed: it allows nothing` };
    default:
      return { ...said, code: "security-closed", message: `${refused}, so it fails closed: it matches every request` };
  }
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

const severalHint = "use one per workload, or set the switch PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS";
const missingHint = "define the provider in the mesh configuration (extensionProviders)";

interface Unusable {
  readonly error: string;
  readonly hint?: string;
}

function badProvider(policy: Policy, { error, hint = missingHint }: Unusable): Diagnostic {
  return {
    code: "custom-provider-unusable",
    severity: "warning",
    origin: policy.origin,
    path: ["spec", "provider", "name"],
    message: `requests that match the policy are denied: ${error}`,
    hint,
  };
}
