import { byCodePoint } from "../../base/diagnostic.ts";
import type { CompiledWorld } from "../compiled.ts";
import { namedPods } from "../nodes/node-names.ts";

/** A world, as far as it says who is of which class. */
export interface ClassesOfWorld extends Pick<CompiledWorld, "nodes" | "classifier"> {
  readonly classes: readonly { readonly id: string }[];
}

/** Proxies that had one class before and have another one now, of which one is only there before, or only now. */
export interface ClassMove {
  readonly before: string;
  readonly after: string;
  /** What they are found by: `pod.namespace`, `every sidecar of shop` for the default of a namespace; sorted, none for pods that were made anew. */
  readonly who: readonly string[];
}

/**
 * A class's id hashes what it selects, so a change of that is another id. This finds out which class stands for which: by the names of their
 * proxies and the namespaces whose default they are; where pods were made anew under other names, by what the classifier reads
 * of them, and at last by their service account, if a single class on each side has it.
 *
 * @returns sorted by ids; a class may be in several, when its proxies part or come together
 */
export function movedClasses(before: ClassesOfWorld, after: ClassesOfWorld): readonly ClassMove[] {
  const earlier = new Set(before.classes.map(({ id }) => id));
  const later = new Set(after.classes.map(({ id }) => id));
  const moves = new Map<string, { readonly before: string; readonly after: string; readonly who: Set<string> }>();
  const placed = { before: new Set<string>(), after: new Set<string>() };
  const ways: readonly Way[] = [byName, byProjection, byAccount];
  for (const way of ways) {
    const [from, to] = [way(before, after), way(after, before)];
    const found: (readonly [string, string, string])[] = [];
    for (const [key, { id: now, who }] of to) {
      const was = from.get(key)?.id;
      if (was === undefined || was === now || (later.has(was) && earlier.has(now))) continue;
      const isKnown = placed.before.has(was) && placed.after.has(now);
      // An account may be that of many: it counts only for what is left over on both sides.
      const isGuess = way === byAccount;
      const isLeft = !later.has(was) && !earlier.has(now) && !placed.before.has(was) && !placed.after.has(now);
      if (isKnown || (isGuess && !isLeft)) continue;
      found.push([was, now, who]);
    }
    for (const [was, now, who] of found) {
      const key = `${was}\0${now}`;
      const move = moves.get(key) ?? { before: was, after: now, who: new Set() };
      moves.set(key, move);
      if (who !== "") move.who.add(who);
    }
    // Only then: what one way has found, a looser one need not look for.
    for (const [was, now] of found) {
      placed.before.add(was);
      placed.after.add(now);
    }
  }
  return [...moves.values()]
    .map((move) => ({ ...move, who: [...move.who].sort(byCodePoint) }))
    .sort((a, b) => byCodePoint(a.before, b.before) || byCodePoint(a.after, b.after));
}

/** What stands for a class on one side, beside the other. */
type Way = (
  world: ClassesOfWorld,
  other: ClassesOfWorld,
) => ReadonlyMap<string, { readonly id: string; readonly who: string }>;

const byName: Way = ({ nodes, classifier }) =>
  new Map([
    ...namedPods(nodes).map(({ name: who, classId: id }) => [who, { id, who }] as const),
    ...Object.entries(classifier.defaults).map(([key, id]) => [key, { id, who: everyOne(key) }] as const),
  ]);

/** `sidecar/shop`: of those that are not known. */
function everyOne(key: string): string {
  const [type = "", namespace = ""] = key.split("/");
  return `every ${type} of ${namespace}`;
}

const byProjection: Way = ({ classifier }, { classifier: other }) => {
  const reads = ({ attributes, labels }: ClassesOfWorld["classifier"]) => JSON.stringify([attributes, labels]);
  if (reads(classifier) !== reads(other)) return new Map();
  return new Map(Object.entries(classifier.classes).map(([key, id]) => [key, { id, who: "" }]));
};

/** `account/pod.namespace`, without the pod. */
const byAccount: Way = ({ nodes }) => {
  const found = new Map<string, { readonly id: string; readonly who: string } | undefined>();
  for (const { keys, classId: id } of nodes) {
    for (const key of keys) {
      const [, account, namespace] = /^([^/]+)\/[^/]*?\.([^./]+)$/.exec(key) ?? [];
      if (account === undefined || namespace === undefined) continue;
      const name = `${account}/${namespace}`;
      const known = found.get(name);
      found.set(name, found.has(name) && known?.id !== id ? undefined : { id, who: `${account} in ${namespace}` });
    }
  }
  return new Map([...found].flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])));
};
