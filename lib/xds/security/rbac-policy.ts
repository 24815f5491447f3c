/**
 * One rule of an AuthorizationPolicy as one RBAC policy.
 * @see docs/how-istio-does-it/security.md#rules-and-parts
 */
import type { PermissionJson, PolicyJson, PrincipalJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { Condition, Operation, Rule, Source } from "../../config/kinds/authorization-policy.ts";
import * as parts from "./rbac-part.ts";
import { expandDomains, type TrustDomains, withAliases } from "./trust-domain.ts";

/** What a rule is translated for. */
export interface RuleContext {
  /** Namespace of the policy: short service account names mean its accounts. */
  readonly namespace: string;
  /** Of which the mesh is; undefined: identities are those of the domain that they name. */
  readonly trustDomains: TrustDomains | undefined;
  readonly protocol: "http" | "tcp";
  /** An allowing rule must not grow: what cannot be expressed drops it. Any other rule loses only that part. */
  readonly allows: boolean;
}

/** A rule that never matches: what a policy without rules becomes. */
export const neverMatches: PolicyJson = {
  permissions: [{ notRule: { any: true } }],
  principals: [{ notId: { any: true } }],
};

/** A rule that matches everything: what a rule becomes that Envoy would refuse, and that does not allow. */
export const alwaysMatches: PolicyJson = { permissions: [{ any: true }], principals: [{ any: true }] };

/** One part of a rule, with the values that must match and those that must not. */
interface Clause<M> {
  readonly part: parts.Part<M>;
  readonly values: readonly string[];
  readonly notValues: readonly string[];
}

/** @returns undefined when the rule names an unknown condition, or cannot be kept on this protocol */
export function rbacPolicy(rule: Rule, context: RuleContext): PolicyJson | undefined {
  const sources = rule.from ?? [];
  const operations = rule.to ?? [];
  const repeats = Math.max(sources.length, 1);
  const conditions = (rule.when ?? []).map((condition) => readCondition(condition, context, repeats));
  if (conditions.includes(undefined)) return undefined;
  const asked = conditions.flatMap((condition) => (condition?.on === "permission" ? [condition.clause] : []));
  const asking = conditions.flatMap((condition) => (condition?.on === "principal" ? [condition.clause] : []));
  const permissions = (
    operations.length === 0 ? [asked] : operations.map(({ operation }) => [...operationClauses(operation), ...asked])
  ).map((clauses) => permission(clauses, context));
  const principals = (
    sources.length === 0 ? [asking] : sources.map(({ source }) => [...sourceClauses(source, context), ...asking])
  ).map((clauses) => principal(clauses, context));
  if (!allDefined(permissions) || !allDefined(principals)) return undefined;
  return { permissions, principals };
}

function operationClauses(operation: Operation | undefined): readonly Clause<PermissionJson>[] {
  if (operation === undefined) return [];
  return [
    clause(parts.hosts, operation.hosts, operation.notHosts),
    clause(parts.methods, operation.methods, operation.notMethods),
    clause(parts.paths, operation.paths, operation.notPaths),
    clause(parts.ports, operation.ports, operation.notPorts),
  ];
}

function sourceClauses(source: Source | undefined, context: RuleContext): readonly Clause<PrincipalJson>[] {
  if (source === undefined) return [];
  const accounts = parts.serviceAccounts(context.namespace);
  return [
    aliased(clause(parts.principals, source.principals, source.notPrincipals), "principals", context),
    clause(parts.requestPrincipals, source.requestPrincipals, source.notRequestPrincipals),
    clause(accounts, source.serviceAccounts, source.notServiceAccounts),
    aliased(clause(parts.trustDomains, source.trustDomains, source.notTrustDomains), "trustDomains", context),
    clause(parts.namespaces, source.namespaces, source.notNamespaces),
    clause(parts.remoteIpBlocks, source.remoteIpBlocks, source.notRemoteIpBlocks),
    clause(parts.ipBlocks, source.ipBlocks, source.notIpBlocks),
  ];
}

type ReadCondition =
  | { readonly on: "permission"; readonly clause: Clause<PermissionJson> }
  | { readonly on: "principal"; readonly clause: Clause<PrincipalJson> };

/**
 * @param repeats how often identities are repeated for all trust domains: a rule's sources share its conditions, and Istio
 * goes over them once for each source. The names say the same, only more often.
 */
function readCondition(condition: Condition, context: RuleContext, repeats: number): ReadCondition | undefined {
  const found = parts.conditionPart(condition.key, context.namespace);
  if (found === undefined) return undefined;
  const { values, notValues } = condition;
  if (found.on === "permission") return { on: "permission", clause: clause(found.part, values, notValues) };
  const read = clause(found.part, values, notValues);
  const { identities } = found;
  if (identities === undefined) return { on: "principal", clause: read };
  return { on: "principal", clause: aliased(read, identities, context, repeats) };
}

function clause<M>(
  part: parts.Part<M>,
  values: readonly string[] | undefined,
  notValues: readonly string[] | undefined,
): Clause<M> {
  return { part, values: values ?? [], notValues: notValues ?? [] };
}

/** No list of identities grows further for the sake of likeness. */
const enoughIdentities = 1000;

/** Repeats identities of the mesh for all its trust domains. */
function aliased<M>(
  from: Clause<M>,
  identities: "principals" | "trustDomains",
  { trustDomains }: RuleContext,
  repeats = 1,
): Clause<M> {
  if (trustDomains === undefined) return from;
  const expandOnce = identities === "principals" ? withAliases : expandDomains;
  const expand = (values: readonly string[]): readonly string[] => {
    let expanded = expandOnce(values, trustDomains);
    for (let round = 1; round < repeats && expanded.length < enoughIdentities; round++) {
      expanded = expandOnce(expanded, trustDomains);
    }
    return expanded;
  };
  return { part: from.part, values: expand(from.values), notValues: expand(from.notValues) };
}

function permission(clauses: readonly Clause<PermissionJson>[], context: RuleContext): PermissionJson | undefined {
  const rules = conjunction(clauses, context, {
    or: (alternatives) => ({ orRules: { rules: alternatives } }),
    not: (notRule) => ({ notRule }),
  });
  return rules && { andRules: { rules: rules.length === 0 ? [{ any: true }] : rules } };
}

function principal(clauses: readonly Clause<PrincipalJson>[], context: RuleContext): PrincipalJson | undefined {
  const ids = conjunction(clauses, context, {
    or: (alternatives) => ({ orIds: { ids: alternatives } }),
    not: (notId) => ({ notId }),
  });
  return ids && { andIds: { ids: ids.length === 0 ? [{ any: true }] : ids } };
}

/** How matchers of one sort are joined. */
interface Join<M> {
  readonly or: (alternatives: M[]) => M;
  readonly not: (matcher: M) => M;
}

/** All clauses, each ORed within, negated ones behind the plain ones; undefined when an allowing rule has to go. */
function conjunction<M>(clauses: readonly Clause<M>[], context: RuleContext, join: Join<M>): M[] | undefined {
  const result: M[] = [];
  for (const { part, values, notValues } of clauses) {
    const plain = matchers(part, values, context, join);
    const negated = matchers(part, notValues, context, join);
    if (plain === "inexpressible" || negated === "inexpressible") return undefined;
    if (plain !== undefined) result.push(plain);
    if (negated !== undefined) result.push(join.not(negated));
  }
  return result;
}

function matchers<M>(
  part: parts.Part<M>,
  values: readonly string[],
  context: RuleContext,
  join: Join<M>,
): M | undefined | "inexpressible" {
  if (values.length === 0) return undefined;
  const foreign = part.httpOnly && context.protocol === "tcp";
  if ("list" in part) {
    const matcher = foreign ? undefined : part.list(values);
    return matcher === undefined && context.allows ? "inexpressible" : matcher;
  }
  const each = foreign ? [] : values.flatMap((value) => part.each(value) ?? []);
  if (each.length < values.length && context.allows) return "inexpressible";
  return each.length === 0 ? undefined : join.or(each);
}

function allDefined<T>(values: readonly (T | undefined)[]): values is T[] {
  return !values.includes(undefined);
}
