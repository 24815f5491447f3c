import type { LocalityFailover } from "../../config/kinds/destination-rule.ts";
import { networkLabel } from "../../registry/labels.ts";
import { type LocalityGroup, type Member, totalWeight } from "./locality-group.ts";

/** Renumbers priorities as 0, 1, 2 … without gaps, which is what Envoy wants. */
function compress(groups: readonly LocalityGroup[]): readonly LocalityGroup[] {
  const used = [...new Set(groups.map((group) => group.priority))].sort((a, b) => a - b);
  const rank = new Map(used.map((priority, index) => [priority, index]));
  return groups.map((group) => ({ ...group, priority: rank.get(group.priority) ?? 0 }));
}

/** 0 the same subzone, 1 the same zone, 2 the same region, 3 elsewhere. */
function distance(here: string, there: string): number {
  const [region = "", zone = "", subzone = ""] = here.split("/");
  const [otherRegion = "", otherZone = "", otherSubzone = ""] = there.split("/");
  if (region !== otherRegion) return 3;
  if (zone !== otherZone) return 2;
  return subzone === otherSubzone ? 0 : 1;
}

/**
 * Orders groups by nearness. Where a rule names a region to fail over to, all other foreign regions come after it.
 * Priorities that the groups already have come first; there are five steps below each of them.
 */
export function byNearness(
  groups: readonly LocalityGroup[],
  rules: readonly LocalityFailover[],
  here: string,
): readonly LocalityGroup[] {
  const region = here.split("/")[0] ?? "";
  const rule = rules.find((candidate) => (candidate.from ?? "") === region);
  return compress(
    groups.map((group) => {
      const steps = distance(here, group.locality);
      const elsewhere = steps === 3 && rule !== undefined && group.locality.split("/")[0] !== (rule.to ?? "");
      return { ...group, priority: group.priority * 5 + (elsewhere ? 4 : steps) };
    }),
  );
}

/**
 * Puts the proxy's region before the others, of which the one that a rule names to fail over to comes first. Among the zones of a region
 * Envoy chooses itself. Priorities that the groups already have come first.
 */
export function byRegion(
  groups: readonly LocalityGroup[],
  rules: readonly LocalityFailover[],
  here: string,
): readonly LocalityGroup[] {
  const region = here.split("/")[0] ?? "";
  const rule = rules.find(({ from = "" }) => from === region);
  return compress(
    groups.map((group) => {
      const there = group.locality.split("/")[0] ?? "";
      const elsewhere = rule !== undefined && there === (rule.to ?? "") ? 1 : 2;
      return { ...group, priority: group.priority * 3 + (there === region ? 0 : elsewhere) };
    }),
  );
}

type Wanted = readonly { readonly key: string; readonly value: string }[];

/** How many of the labels, counted from the first that differs, stand between a proxy and an endpoint. */
function labelDistance(member: Member, wanted: Wanted): number {
  const differs = wanted.findIndex(({ key, value }) => (member.labels[key] ?? "") !== value);
  return differs === -1 ? 0 : wanted.length - differs;
}

/** The same, where the first label is a wish: without it an endpoint is farther than any that has it, by what else it shares. */
function distanceBeyondWish(member: Member, [wish, ...others]: Wanted): number {
  const shares = wish === undefined || (member.labels[wish.key] ?? "") === wish.value;
  return labelDistance(member, others) + (shares ? 0 : others.length + 1);
}

/**
 * Splits each group by the labels that its endpoints share with the proxy: the earlier the first difference, the later
 * the priority. A label that both lack counts as shared.
 *
 * @param priorities `key`, or `key=value` to compare with that value instead of the proxy's
 * @param prefersNetwork the network as the first of them is a wish: endpoints of other networks are told apart by the labels after it
 */
export function byLabels(
  groups: readonly LocalityGroup[],
  priorities: readonly string[],
  proxyLabels: Readonly<Record<string, string>>,
  prefersNetwork: boolean,
): readonly LocalityGroup[] {
  // A value that is stated instead of the proxy's is none.
  const distanceOf = prefersNetwork && priorities[0] === networkLabel ? distanceBeyondWish : labelDistance;
  const overrides = new Map<string, string>();
  const keys = priorities.map((text) => {
    const [key = "", ...values] = text.split("=");
    if (values.length === 1 && values[0] !== undefined) overrides.set(key, values[0]);
    return key;
  });
  const wanted = keys.map((key) => ({ key, value: overrides.get(key) ?? proxyLabels[key] ?? "" }));
  const split = groups.flatMap((group) => {
    const byPriority = new Map<number, Member[]>();
    for (const member of group.members) {
      const priority = distanceOf(member, wanted);
      const members = byPriority.get(priority);
      if (members === undefined) byPriority.set(priority, [member]);
      else members.push(member);
    }
    return [...byPriority]
      .sort(([a], [b]) => a - b)
      .map(([priority, members]) => ({ ...group, members, weight: totalWeight(members), priority }));
  });
  return compress(split);
}
