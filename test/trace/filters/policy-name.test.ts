import { describe, expect, it } from "vitest";
import { behindPolicies, policyText, ruleOfPolicy } from "../../../lib/trace/filters/policy-name.ts";
import { askedPolicyName, rbacPolicyName, unaskedPolicyName } from "../../../lib/xds/names.ts";

describe("the rule behind an RBAC policy", () => {
  const name = rbacPolicyName({ namespace: "shop", name: "allow-get" }, 2);

  it.each([
    name,
    askedPolicyName("oauth", name),
    askedPolicyName("", name),
    unaskedPolicyName(askedPolicyName("oauth", name)),
  ])("is read from %s", (policy) => {
    expect(ruleOfPolicy(policy)).toEqual({ namespace: "shop", name: "allow-get", rule: 2 });
  });

  it("is the refused object where a policy stands in for one", () => {
    const name = rbacPolicyName({ namespace: "shop", name: "closed:EnvoyFilter:guard" }, 0);
    expect(policyText(name)).toBe("EnvoyFilter shop/guard, which is refused and fails closed");
    expect(behindPolicies([name])).toEqual([{ kind: "object", key: "EnvoyFilter/shop/guard", path: [] }]);
  });

  it("is not known of a policy that somebody else has named", () => {
    expect(ruleOfPolicy("mine")).toBeUndefined();
    expect(policyText("mine")).toBe("mine");
    expect(policyText("closed")).toBe("a refused patch, which fails closed");
  });
});
