import type { Behind } from "../decision.ts";

/** A rule of an AuthorizationPolicy, or what stands in for a refused object of another kind. */
export interface PolicyRule {
  readonly namespace: string;
  readonly name: string;
  /** From 0. */
  readonly rule: number;
  /** Kind of the refused object, whose own rules are not served; absent: it is an AuthorizationPolicy's rule. */
  readonly closedKind?: string;
}

/** The rule that an RBAC policy is made from, by Istio's names; undefined for one that somebody else has named. */
export function ruleOfPolicy(policy: string): PolicyRule | undefined {
  const [, namespace = "", name = "", rule = ""] =
    /ns\[([^[\]]{0,253})\]-policy\[([^[\]]{0,253})\]-rule\[(\d{1,9})\]/.exec(policy) ?? [];
  if (name === "") return undefined;
  // As `lib/config/fail-closed/close-object.ts` names them: no object of the mesh has a name with a colon.
  const [, kind, refused] = /^closed:(\w+):(.+)$/.exec(name) ?? [];
  return kind === undefined || refused === undefined
    ? { namespace, name, rule: Number(rule) }
    : { namespace, name: refused, rule: Number(rule), closedKind: kind };
}

/** The policy by which a resource denies everything where a patch for it is refused (`denyingFilter`). */
const closedPolicy = "closed";

/** `shop/allow-get rule 0`; the name as it is where nobody knows the object. */
export function policyText(policy: string): string {
  const found = ruleOfPolicy(policy);
  if (policy === closedPolicy) return "a refused patch, which fails closed";
  if (found === undefined) return policy.slice(0, 200);
  if (found.closedKind !== undefined)
    return `${found.closedKind} ${found.namespace}/${found.name}, which is refused and fails closed`;
  const unusable = policy.endsWith("-deny-due-to-bad-CUSTOM-action")
    ? ", whose external authorizer cannot be used"
    : "";
  return `${found.namespace}/${found.name} rule ${found.rule}${unusable}`;
}

/** The rules behind policies; undefined where none is of an object that is known. */
export function behindPolicies(policies: readonly string[]): readonly Behind[] | undefined {
  const found = policies.flatMap((policy): readonly Behind[] => {
    const rule = ruleOfPolicy(policy);
    if (rule === undefined) return [];
    const { closedKind: kind = "AuthorizationPolicy", namespace, name } = rule;
    const path = rule.closedKind === undefined ? ["spec", "rules", rule.rule] : [];
    return [{ kind: "object", key: `${kind}/${namespace}/${name}`, path }];
  });
  return found.length === 0 ? undefined : found.slice(0, maxBehind);
}

const maxBehind = 20;
