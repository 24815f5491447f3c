import { sameElements } from "../../incremental/same-elements.ts";
import type { CompiledPart } from "../compiled.ts";
import { type EncodedPart, type EncodedRun, endAlike } from "./encode-tree.ts";

/** What a table is about. */
export interface TableContent {
  /** The parts of its trees, each once, in the order in which the trees have them; long resources come last, by their names. */
  readonly groups: readonly EncodedPart[];
  /** What its trees consist of, each once. */
  readonly runs: readonly EncodedRun[];
}

/**
 * The content of a table in whose lists some parts were replaced. As a rule those that come in their stead are cut into as many parts as they
 * were, and then all trees stay as they are.
 *
 * @param content of a table that is cut at the parts of its lists
 * @param runOf a part that is cut by itself
 * @returns undefined where more is new
 */
export function withReplaced<C extends TableContent>(
  content: C,
  replaced: ReadonlyMap<CompiledPart, CompiledPart>,
  runOf: (part: CompiledPart) => EncodedRun | undefined,
): C | undefined {
  const runs = new Map<EncodedRun, EncodedRun>();
  for (const [part, instead] of replaced) {
    const [before, after] = [runOf(part), runOf(instead)];
    if (before === undefined || after === undefined || !endAlike(part, instead)) return undefined;
    if (!sameElements(before.secrets, after.secrets)) return undefined;
    runs.set(before, after);
  }
  const parts = partsInstead(runs);
  if (parts === undefined) return undefined;
  // What others have too stays theirs.
  for (const run of content.runs)
    for (const { key } of run.parts) if (parts.has(key) && !runs.has(run)) return undefined;
  const come = new Set(Array.from(parts.values(), ({ key }) => key));
  if (come.size < parts.size || content.groups.some(({ key }) => come.has(key) && !parts.has(key))) return undefined;
  const groups = content.groups.map((part) => parts.get(part.key) ?? part);
  return { ...content, groups, runs: content.runs.map((run) => runs.get(run) ?? run) };
}

/** What stands for each part of some runs in those that replace them, where it is another one, by key; undefined where that is not one for one. */
function partsInstead(runs: ReadonlyMap<EncodedRun, EncodedRun>): ReadonlyMap<string, EncodedPart> | undefined {
  const parts = new Map<string, EncodedPart>();
  for (const [before, after] of runs) {
    if (before.parts.length !== after.parts.length) return undefined;
    for (const [at, { key }] of before.parts.entries()) {
      const instead = after.parts[at];
      if (instead === undefined || (parts.get(key) ?? instead).key !== instead.key) return undefined;
      parts.set(key, instead);
    }
  }
  for (const [key, instead] of parts) if (instead.key === key) parts.delete(key);
  return parts;
}
