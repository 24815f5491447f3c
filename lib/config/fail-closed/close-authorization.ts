import { fieldsOf, listOf } from "../../base/untyped.ts";
import type { Finding } from "../finding.ts";
import type { AuthorizationPolicy } from "../kinds/authorization-policy.ts";
import type { PolicyTarget } from "../kinds/selector.ts";
import { authorizationPolicyRules } from "../rules/security/authorization-policy.ts";
import { authorizationPolicy } from "../schema/security.ts";
import type { Closing } from "./closed-object.ts";
import { invalidElements } from "./invalid-elements.ts";
import { validSpec } from "./valid-spec.ts";

/** Every request to what is selected is denied. */
export const denyAll = (target: PolicyTarget): AuthorizationPolicy => ({ ...target, action: "DENY", rules: [{}] });

/** What an AuthorizationPolicy comes to; undefined where it protects nothing. */
export interface ClosedAuthorization {
  readonly spec: AuthorizationPolicy;
  readonly closing: Closing;
  /** A DENY with its valid rules, which count even where an earlier form of the policy is served; absent: there are none. */
  readonly valid?: AuthorizationPolicy;
}

/**
 * Closes a refused AuthorizationPolicy. Where nothing but some of its rules is invalid, an ALLOW keeps its valid rules and a CUSTOM asks
 * about every request; anything else denies everything. An AUDIT protects nothing.
 *
 * @param raw the spec as written
 * @param errors of the object
 */
export function closeAuthorization(
  raw: unknown,
  errors: readonly Pick<Finding, "path">[],
  target: PolicyTarget,
): ClosedAuthorization | undefined {
  const denied = { spec: denyAll(target), closing: "denied" } as const;
  const { action } = fieldsOf(raw);
  if (action === "AUDIT") return undefined;
  const rest = withoutRules(raw, errors);
  if (rest === undefined) return denied;
  switch (rest.action) {
    case "CUSTOM":
      return { spec: { ...rest, rules: [...(rest.rules ?? []), {}] }, closing: "authorizer-asked" };
    case "DENY":
      return rest.rules === undefined || rest.rules.length === 0 ? denied : { ...denied, valid: rest };
    case "AUDIT":
      return denied;
    default:
      return { spec: { ...rest, rules: rest.rules ?? [] }, closing: "only-valid-rules" };
  }
}

/** The policy without its invalid rules; undefined where more than rules is invalid. */
function withoutRules(raw: unknown, errors: readonly Pick<Finding, "path">[]): AuthorizationPolicy | undefined {
  const invalid = invalidElements(errors, "rules");
  if (invalid === undefined) return undefined;
  const fields = fieldsOf(raw);
  const rules = listOf(fields.rules).filter((_, index) => !invalid.has(index));
  return validSpec(authorizationPolicy, { ...fields, rules }, authorizationPolicyRules);
}
