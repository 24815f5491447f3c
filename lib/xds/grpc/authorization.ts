import type { PolicyJson, RBAC_ActionJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { isDryRun } from "../../config/dry-run.ts";
import { at, warning } from "../../config/finding.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import { packAny } from "../core-messages.ts";
import { askedPolicyName, grpcPolicyName, rbacPolicyName, unaskedPolicyName } from "../names.ts";
import { neverMatches, type RuleContext, rbacPolicy } from "../security/rbac-policy.ts";
import type { TrustDomains } from "../security/trust-domain.ts";

type Policies = readonly Config<AuthorizationPolicy>[];

/**
 * AuthorizationPolicies at a server that is a gRPC program: one filter that denies, one that allows. Programs know neither shadow rules nor
 * external authorizers; what an authorizer would be asked about is denied, as at a proxy whose authorizer cannot be used.
 */
export function grpcAuthorization(policies: Policies, trustDomains: TrustDomains): Stage<readonly HttpFilterJson[]> {
  const enforced = policies.filter((policy) => !isDryRun(policy.meta.annotations));
  const asking = withAction(enforced, "CUSTOM");
  const denied = [
    ...policiesOf(withAction(enforced, "DENY"), { trustDomains, allows: false }, rbacPolicyName),
    ...asking.flatMap((policy) => {
      const provider = policy.spec.provider?.name ?? "";
      const named = (meta: Config["meta"], rule: number): string =>
        unaskedPolicyName(askedPolicyName(provider, rbacPolicyName(meta, rule)));
      return policiesOf([policy], { trustDomains, allows: false }, named);
    }),
  ];
  const allowing = withAction(enforced, "ALLOW");
  const allowed = policiesOf(allowing, { trustDomains, allows: true }, rbacPolicyName);
  const allows: readonly Entry[] = allowed.length > 0 ? allowed : [["nobody", neverMatches]];
  return {
    value: [...(denied.length === 0 ? [] : [deny(denied)]), ...(allowing.length === 0 ? [] : [allow(allows)])],
    diagnostics: asking.map(({ origin }) =>
      at(
        origin,
        warning(
          ["spec", "action"],
          "requests to gRPC programs that the policy is about are denied: no such program can ask an authorizer",
          "let its selector pass over workloads without a proxy, or give them one",
          "custom-provider-unusable",
        ),
      ),
    ),
  };
}

/**
 * The same as Istio has it: policies that are tried out are enforced, those without rules and those that ask an authorizer are passed over, and
 * identities are those of the trust domain that they name.
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/lds.go, buildRBAC
 */
export function openAuthorization(policies: Policies): readonly HttpFilterJson[] {
  const entries = (action: "DENY" | "ALLOW"): readonly Entry[] => {
    const ruled = withAction(policies, action).filter(({ spec }) => (spec.rules ?? []).length > 0);
    return policiesOf(ruled, { trustDomains: undefined, allows: action === "ALLOW" }, grpcPolicyName);
  };
  const [denied, allowed] = [entries("DENY"), entries("ALLOW")];
  return [...(denied.length === 0 ? [] : [deny(denied)]), ...(allowed.length === 0 ? [] : [allow(allowed)])];
}

const withAction = (policies: Policies, action: "DENY" | "ALLOW" | "CUSTOM"): Policies =>
  policies.filter(({ spec }) => (spec.action ?? "ALLOW") === action);

type Entry = readonly [string, PolicyJson];

/** Rules by name; a policy without any never matches. */
function policiesOf(
  policies: Policies,
  context: Pick<RuleContext, "trustDomains" | "allows">,
  named: (meta: Config["meta"], rule: number) => string,
): readonly Entry[] {
  return policies.flatMap(({ meta, spec: { rules = [] } }): readonly Entry[] => {
    if (rules.length === 0) return [[named(meta, 0), neverMatches]];
    return rules.flatMap((rule, at): readonly Entry[] => {
      const policy = rbacPolicy(rule, { ...context, namespace: meta.namespace, protocol: "http" });
      return policy === undefined ? [] : [[named(meta, at), policy]];
    });
  });
}

const deny = (entries: readonly Entry[]): HttpFilterJson => rbac("envoy.filters.http.rbac.DENY", "DENY", entries);
const allow = (entries: readonly Entry[]): HttpFilterJson => rbac("envoy.filters.http.rbac", undefined, entries);

/** ALLOW is the enum's zero and not written. */
function rbac(name: string, action: RBAC_ActionJson | undefined, entries: readonly Entry[]): HttpFilterJson {
  const rules = { ...(action === undefined ? {} : { action }), policies: Object.fromEntries(entries) };
  return { name, typedConfig: packAny("envoy.extensions.filters.http.rbac.v3.RBAC", { rules }) };
}
