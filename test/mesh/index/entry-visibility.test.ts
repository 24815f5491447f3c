import { describe, expect, it } from "vitest";
import type { ServiceEntryVisibility } from "../../../lib/config/kinds/mesh-config.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { entryLimits } from "../../../lib/mesh/index/entry-visibility.ts";

const namespaces = new Map([
  ["plain", {}],
  ["shared", { tier: "shared" }],
  ["banned", { tier: "banned" }],
]);
const limits = (setting: ServiceEntryVisibility | undefined) => entryLimits({ setting, namespaces }, createMemo());
const ofTier = (...values: string[]) => [
  { namespaceSelector: { matchExpressions: [{ key: "tier", operator: "In", values }] } },
];

describe("how far entries may be seen", () => {
  it("concerns sidecars only where it says so", () => {
    expect(limits(undefined)).toBeUndefined();
    expect(limits({ defaultVisibility: "NONE" })).toBeUndefined();
  });

  it("is what the first policy says all of whose rules match, and else the default", () => {
    const policies = [
      { visibility: "NONE" as const, matchingRules: ofTier("banned") },
      { visibility: "PUBLIC" as const, matchingRules: [...ofTier("shared", "banned"), ...ofTier("shared", "other")] },
    ];
    expect(limits({ applyToSidecars: true, defaultVisibility: "NAMESPACE", policies })).toEqual({
      byNamespace: { shared: "PUBLIC", banned: "NONE" },
      others: "NAMESPACE",
    });
  });

  it("is public where nothing is said, and where a rule selects by nothing", () => {
    const policies = [{ visibility: "NONE" as const, matchingRules: [{}] }, { visibility: "UNSPECIFIED" as const }];
    expect(limits({ applyToSidecars: true, defaultVisibility: "NONE", policies })).toEqual({
      byNamespace: {},
      others: "PUBLIC",
    });
  });

  it("knows a namespace by the label with its name", () => {
    const named = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "plain" } } }];
    const policies = [{ visibility: "NONE" as const, matchingRules: named }];
    expect(limits({ applyToSidecars: true, policies })?.byNamespace).toEqual({ plain: "NONE" });
  });
});
