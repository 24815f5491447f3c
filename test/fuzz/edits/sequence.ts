import { defaultWorldOptions, type WorldOptions } from "../../../lib/compile/world-of.ts";
import { createDice, type Dice } from "../objects/dice.ts";
import { randomSource } from "../objects/random-source.ts";
import { type Coverage, editedPlaces } from "./coverage.ts";
import { type Folder, withObjects } from "./folder.ts";
import { kindOf } from "./kinds.ts";
import type { Materials } from "./materials.ts";
import { randomEdit } from "./random-edit.ts";
import { createWarmCompiler } from "./warm-and-fresh.ts";

/** A warm compiler that went wrong: the folders that it was given, the last of which it answered otherwise than a fresh one. */
export interface WarmFailure {
  readonly seed: number;
  readonly options: WorldOptions;
  readonly folders: readonly Folder[];
  /** What led to the last folder. */
  readonly what: string;
  readonly findings: readonly string[];
}

/**
 * Compiles one folder after the other, each a random edit of the one before, until a warm compiler and a fresh one disagree.
 *
 * @param steps how many edits
 * @returns the failure, or undefined
 */
export function checkSequence(
  seed: number,
  steps: number,
  materials: Materials,
  coverage: Coverage,
): WarmFailure | undefined {
  const dice = createDice(seed);
  const options = randomOptions(dice, seed);
  const compiler = createWarmCompiler(options);
  const folders = [firstFolder(dice, materials)];
  let root = "";
  let what = "the first folder";
  for (let step = 0; step <= steps; step++) {
    const [before, folder] = [folders.at(-2), folders.at(-1)];
    if (folder === undefined) return undefined;
    const judged = compiler.compile(folder);
    if (judged.findings.length > 0) return { seed, options, folders, what, findings: judged.findings };
    if (before !== undefined) record(coverage, before, folder, judged.root !== root);
    root = judged.root;
    const edited = randomEdit({ dice, materials, coverage, history: folders }, folder);
    what = edited.what;
    folders.push(edited.folder);
  }
  return undefined;
}

function record(coverage: Coverage, before: Folder, after: Folder, changed: boolean): void {
  const places = editedPlaces(before, after);
  for (const place of places) coverage.edits.set(place, (coverage.edits.get(place) ?? 0) + 1);
  const [only] = places;
  if (changed && places.length === 1 && only !== undefined) coverage.felt.add(only);
}

export function randomOptions(dice: Dice, seed: number): WorldOptions {
  return {
    ...defaultWorldOptions,
    compat: dice.pick(["shared", "shared", "istio"]),
    ...dice.maybe(15, () => ({ legacyApi: dice.pick(["0.7", "0.8"]) })),
    ...dice.maybe(15, () => ({ certificates: "files" as const })),
    binaryForms: dice.chance(8),
    named: dice.chance(30) ? randomSource(seed).proxies : [],
  };
}

/** Two services with their pods, and a few objects about them; or a case of the conformance data. */
export function firstFolder(dice: Dice, { applications, objects, cases, meshConfigs }: Materials): Folder {
  const empty: Folder = { meshConfig: undefined, networks: undefined, objects: [] };
  if (cases.length > 0 && dice.chance(40)) return dice.pick(cases);
  const config = [...objects.values()].flat().filter((manifest) => kindOf(manifest) !== undefined);
  return withObjects({ ...empty, meshConfig: dice.chance(40) ? dice.pick(meshConfigs) : undefined }, [
    ...dice.some(applications, 2, 2).flatMap((bundle) => bundle.objects),
    ...dice.some(config, 4, 8).map((manifest) => ({ file: "a.yaml", manifest })),
  ]);
}
