import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { ShapeName } from "../../snapshot/resource-type.ts";
import { createLoadCache, type LoadCache } from "../../snapshot/worlds/load-cache.ts";
import { type ClassMove, movedClasses } from "../../snapshot/worlds/moved-classes.ts";
import { type Answered, type Asked, found, matcher, noSuchShape, pageOf, shapeOf } from "./asked.ts";
import { type BothVersions, type Browser, bothBrowsed } from "./browsed.ts";
import type { MembersOfRoots } from "./class-members.ts";
import { type ClassPair, type Compared, compareVersions } from "./compared.ts";
import type { Diff } from "./schema/changes.ts";

interface Versions extends BothVersions {
  readonly shape: ShapeName;
}

interface DiffOfVersions extends Compared {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly moved: readonly ClassMove[];
}

export type Diffs = LoadCache<Versions, DiffOfVersions>;

/** Comparisons, as they were made last: going from page to page makes none again. */
export const createDiffs = ({ reader }: Browser, membersOf: MembersOfRoots, maxBytes: number): Diffs =>
  createLoadCache<Versions, DiffOfVersions>({
    nameOf: ({ before, after, shape }) => `${before.hash} ${after.hash} ${shape}`,
    maxBytes,
    load: async ({ before, after, shape }) => {
      const classes = await classesApart(membersOf, before, after);
      return {
        ...classes,
        ...(await compareVersions(reader, before, after, pairsOf(before, after, classes.moved), shape)),
      };
    },
    sizeOf: ({ resources }) =>
      resources.reduce((sum, { name, from }) => sum + 300 + 2 * name.length + 100 * from.length, 1_000),
  });

const maxClasses = 50;
const maxFrom = 10;

/** What differs between two versions: classes, and the resources of those that are in both. */
export async function answerDiff(browser: Browser, diffs: Diffs, asked: Asked): Promise<Answered<Diff>> {
  const versions = await bothBrowsed(browser, asked);
  if (versions.kind === "refused") return versions;
  const { before, after } = versions.value;
  const shape = shapeOf(asked);
  if (shape === undefined) return noSuchShape();
  const diff = await diffs.get({ ...versions.value, shape });
  const isMeant = matcher(asked.value("q"));
  const all = diff.resources.filter(({ name, from }) => isMeant(name) || from.some(isMeant));
  const { offset, limit } = pageOf(asked);
  return found({
    before: before.hash,
    after: after.hash,
    shape,
    classes: {
      added: diff.added.slice(0, maxClasses),
      removed: diff.removed.slice(0, maxClasses),
      moved: diff.moved
        .slice(0, maxClasses)
        .map((move) => ({ ...move, who: move.who.slice(0, 5), moreWho: Math.max(move.who.length - 5, 0) })),
      more: Math.max(Math.max(diff.added.length, diff.removed.length, diff.moved.length) - maxClasses, 0),
    },
    counts: countsOf(diff),
    isPartial: diff.isPartial,
    total: all.length,
    resources: all.slice(offset, offset + limit).map((one) => ({
      ...one,
      from: one.from.slice(0, maxFrom),
      moreFrom: Math.max(one.from.length - maxFrom, 0),
    })),
  });
}

function countsOf({ resources }: Compared): Diff["counts"] {
  const count = (wanted: string) => resources.filter(({ change }) => change === wanted).length;
  return { added: count("added"), removed: count("removed"), changed: count("changed") };
}

/** Classes that one side alone has; of these, which stand for the same proxies. */
async function classesApart(membersOf: MembersOfRoots, before: LoadedRoot, after: LoadedRoot) {
  const idsOf = ({ classes }: LoadedRoot) => [...classes.keys()];
  const added = idsOf(after).filter((id) => !before.classes.has(id));
  const removed = idsOf(before).filter((id) => !after.classes.has(id));
  if (added.length === 0 || removed.length === 0) return { added, removed, moved: [] };
  const sideOf = async (loaded: LoadedRoot) => ({
    classes: idsOf(loaded).map((id) => ({ id })),
    classifier: loaded.classifier,
    nodes: [...(await membersOf.get(loaded)).byClass].flatMap(([classId, { nodes }]) =>
      nodes.map((name) => ({ keys: [name], classId })),
    ),
  });
  const moved = movedClasses(await sideOf(before), await sideOf(after));
  const [left, entered] = [new Set(moved.map((move) => move.before)), new Set(moved.map((move) => move.after))];
  return { added: added.filter((id) => !entered.has(id)), removed: removed.filter((id) => !left.has(id)), moved };
}

function pairsOf(before: LoadedRoot, after: LoadedRoot, moved: readonly ClassMove[]): readonly ClassPair[] {
  const same = [...after.classes.keys()].map((id) => [id, id] as const);
  return [...same, ...moved.map((move) => [move.before, move.after] as const)].flatMap(([old, now]) => {
    const [was, is] = [before.classes.get(old), after.classes.get(now)];
    return was === undefined || is === undefined ? [] : [[was, is] as const];
  });
}
