import { byCodePoint } from "../../base/diagnostic.ts";
import type { LocalityDistribute } from "../../config/kinds/destination-rule.ts";
import type { LocalityGroup } from "./locality-group.ts";

/** `region/zone/subzone` against a pattern: `*` matches a part, an absent zone or subzone matches all. */
function matchesLocality(locality: string, pattern: string): boolean {
  const [region = "", zone = "", subzone = ""] = locality.split("/");
  const [wantRegion = "", wantZone = "", wantSubzone = ""] = pattern.split("/");
  return (
    (wantRegion === "*" || wantRegion === region) &&
    (wantZone === "*" || wantZone === "" || wantZone === zone) &&
    (wantSubzone === "*" || wantSubzone === "" || wantSubzone === subzone)
  );
}

/** More stated parts first, so that `eu/a` is served before `eu`: Istio leaves the order to a Go map. */
function mostSpecificFirst([a]: readonly [string, number], [b]: readonly [string, number]): number {
  const stated = (pattern: string): number => pattern.split("/").filter((part) => part !== "*" && part !== "").length;
  return stated(b) - stated(a) || byCodePoint(a, b);
}

/**
 * Gives each matched group its share of the stated percentage. It changes the weights of groups, not of endpoints; a
 * group that no pattern matches loses its endpoints but stays, with its old weight.
 *
 * @param here locality of the asking proxy; if no rule is `from` there, nothing changes
 * @see docs/how-istio-does-it/endpoints.md#localities
 */
export function distribute(
  groups: readonly LocalityGroup[],
  rules: readonly LocalityDistribute[],
  here: string,
): readonly LocalityGroup[] {
  const rule = rules.find((candidate) => matchesLocality(here, candidate.from ?? ""));
  if (rule === undefined) return groups;
  const shared = new Map<LocalityGroup, LocalityGroup>();
  for (const [pattern, percent] of Object.entries(rule.to ?? {}).sort(mostSpecificFirst)) {
    const matched = groups.filter((group) => !shared.has(group) && matchesLocality(group.locality, pattern));
    const total = matched.reduce((sum, group) => sum + (group.weight ?? 1), 0);
    for (const group of matched) {
      const weight = Math.ceil(((group.weight ?? 1) * percent) / total);
      shared.set(group, weight > 0 ? { ...group, weight } : group);
    }
  }
  return groups.map((group) => shared.get(group) ?? { ...group, members: [] });
}
