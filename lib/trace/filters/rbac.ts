import type { RBACJson as RulesJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { RBACJson } from "../../../gen/envoy/extensions/filters/http/rbac/v3/rbac_pb.ts";
import type { RBACJson as NetworkRbacJson } from "../../../gen/envoy/extensions/filters/network/rbac/v3/rbac_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { End, PassedOver } from "../decision.ts";
import { type Left, rbacNamespaces, withMetadata } from "./metadata.ts";
import type { Passage } from "./passage.ts";
import { behindPolicies, policyText } from "./policy-name.ts";
import { policyTruth } from "./rbac-rule.ts";
import type { FilterContext, Stream } from "./stream.ts";
import { depends, type Truth } from "./truth.ts";
import { tooMuch } from "./work.ts";

/** What a set of rules says of a request. */
interface Judgement {
  readonly allowed: "yes" | "no" | "depends";
  /** Names of the policies behind it: the one that matches, those that may, or those that might have allowed it. */
  readonly policies: readonly string[];
  /** The first that matches, which its metadata names; absent for none. */
  readonly matching: Left | undefined;
  /** Where it depends. */
  readonly on: readonly string[];
  readonly why: string;
  readonly passedOver: readonly PassedOver[];
}

/** Rules are the same for HTTP and for TCP; so is what is left behind. */
export type AnyRbac = Pick<
  RBACJson & NetworkRbacJson,
  "rules" | "matcher" | "shadowRules" | "shadowMatcher" | "shadowRulesStatPrefix"
>;

/**
 * What an RBAC filter does with a request: shadow rules leave what they would have said for the filters behind, the others decide.
 *
 * @param denial how a request ends that is denied
 * @returns undefined where it has no rules
 * @see envoy 1.40.0 source/extensions/filters/http/rbac/rbac_filter.cc
 */
export function throughRbac(
  config: AnyRbac,
  kind: keyof typeof rbacNamespaces,
  stream: Stream,
  context: FilterContext,
  denial: (why: string) => End,
): Passage | undefined {
  const { rules, matcher, shadowRules, shadowMatcher, shadowRulesStatPrefix = "" } = config;
  const shadow = shadowRules && judged(shadowRules, stream, context);
  const next = shadow === undefined ? stream : marked(stream, rbacNamespaces[kind], shadowRulesStatPrefix, shadow);
  const note = shadow === undefined || isMark(shadowRulesStatPrefix) ? "" : `dry run: ${shadow.why}`;
  if (matcher !== undefined || shadowMatcher !== undefined)
    return { why: "its matcher is not followed here", next, ends: unknownEnd(["a matcher of RBAC"], denial) };
  if (rules === undefined) {
    if (shadow === undefined) return undefined;
    const why = note || markText(shadow);
    return { why, next, behind: behindPolicies(shadow.policies), passedOver: shadow.passedOver };
  }
  const found = judged(rules, stream, context);
  const behind = behindPolicies(found.policies);
  const told = { behind, passedOver: found.passedOver, next, why: [found.why, note].filter(Boolean).join("; ") };
  if (found.allowed === "yes") return told;
  if (found.allowed === "no") return { ...told, ends: { part: 1, end: denial(found.why) } };
  return { ...told, ends: unknownEnd(found.on, denial) };
}

const unknownEnd = (on: readonly string[], denial: (why: string) => End) =>
  ({ part: "unknown", on, end: denial(`it depends on ${on.join(", ")}`) }) as const;

/** Shadow rules that an external authorizer's filter looks at, by Istio's names: they try nothing out. */
const isMark = (prefix: string): boolean => /^istio[_-]ext[_-]authz/.test(prefix);

function markText({ matching, policies, on }: Judgement): string {
  if (matching?.kind === "depends") return `whether it marks the request depends on ${on.join(", ")}`;
  return matching === undefined
    ? "no rule marks the request"
    : `it marks the request by ${policies.map(policyText).join(", ")}`;
}

function marked(stream: Stream, namespace: string, prefix: string, { matching, allowed, on }: Judgement): Stream {
  const result: Left =
    allowed === "depends"
      ? { kind: "depends", on }
      : { kind: "known", value: allowed === "yes" ? "allowed" : "denied" };
  const left = new Map<string, Left>([[`${prefix}shadow_engine_result`, result]]);
  if (matching !== undefined) left.set(`${prefix}shadow_effective_policy_id`, matching);
  return { ...stream, metadata: withMetadata(stream.metadata, namespace, left) };
}

/** Policies are tried by name. */
function judged(rules: RulesJson, stream: Stream, context: FilterContext): Judgement {
  const { action = "ALLOW", policies = {} } = rules;
  const passedOver: PassedOver[] = [];
  const uncertain: { readonly name: string; readonly on: readonly string[] }[] = [];
  for (const [name, policy] of Object.entries(policies).sort(([a], [b]) => byCodePoint(a, b))) {
    const truth: Truth = context.work.spend() ? policyTruth(policy, stream, context) : depends(tooMuch);
    if (truth.is === "no") passedOver.push({ name: policyText(name), why: truth.why });
    else if (truth.is === "depends") uncertain.push({ name, on: truth.on });
    else {
      const matching: Left =
        uncertain.length === 0
          ? { kind: "known", value: name }
          : { kind: "depends", on: uncertain.flatMap(({ on }) => on) };
      const because = truth.why === "" ? "" : ` (${truth.why})`;
      const verb = action === "DENY" ? "denied by" : action === "LOG" ? "marked for the access log by" : "allowed by";
      const why = `${verb} ${policyText(name)}${because}`;
      return { allowed: action === "DENY" ? "no" : "yes", policies: [name], matching, on: [], why, passedOver };
    }
  }
  // The last that was tried comes first.
  passedOver.reverse();
  const on = [...new Set(uncertain.flatMap((one) => one.on))].slice(0, maxUnknowns);
  if (uncertain.length > 0) {
    const names = uncertain.map(({ name }) => name);
    const several = names.slice(0, 3).map(policyText).join(", ") + (names.length > 3 ? " …" : "");
    const verb = action === "DENY" ? "denied" : action === "LOG" ? "marked for the access log" : "allowed";
    const why = `whether it is ${verb} by ${several} depends on ${on.join(", ")}`;
    const allowed = action === "LOG" ? "yes" : "depends";
    return { allowed, policies: names, matching: { kind: "depends", on }, on, why, passedOver };
  }
  const none = passedOver.length === 0 ? "there is no rule" : `none of ${passedOver.length} rules matches`;
  if (action !== "ALLOW") return { allowed: "yes", policies: [], matching: undefined, on, why: none, passedOver };
  const why = `denied: ${passedOver.length === 0 ? "there is no rule that allows anything" : `none of ${passedOver.length} rules allows it`}`;
  return { allowed: "no", policies: Object.keys(policies), matching: undefined, on, why, passedOver };
}

const maxUnknowns = 5;
