import { defaultWorldOptions, type WorldOptions } from "../../../lib/compile/world/world-of.ts";
import { releases } from "../../../lib/config/compat/compat-settings.ts";
import { nodeOfNamed } from "../../named-proxy.ts";
import { createDice, type Dice, shuffled } from "../objects/dice.ts";
import { randomSource } from "../objects/random-source.ts";
import { strangersIn } from "./alone.ts";
import { type Coverage, editedPlaces } from "./coverage.ts";
import { type Folder, placeKey, withObjects } from "./folder.ts";
import { kindOf } from "./kinds.ts";
import type { Materials } from "./materials.ts";
import { randomEdit } from "./random-edit.ts";
import { readsOf } from "./reads.ts";
import { findingsAfter } from "./shrink.ts";
import { type Target, targetsOf } from "./targets.ts";
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

/** Steps after which what a compile reads is looked at again, and after which every proxy is compiled alone. */
const watchedEvery = 12;
const aloneEvery = 24;

/**
 * Compiles one folder after the other, each a random edit of the one before, with a warm compiler and a fresh one.
 *
 * @param steps how many edits
 * @returns where they disagreed; after each of these the warm compiler begins anew. At the end comes one that took another
 *   way to the last folder
 */
export function checkSequence(
  seed: number,
  steps: number,
  materials: Materials,
  coverage: Coverage,
): readonly WarmFailure[] {
  const dice = createDice(seed);
  const options = randomOptions(dice, seed);
  const failures: WarmFailure[] = [];
  let compiler = createWarmCompiler(options);
  let folder = firstFolder(dice, materials);
  let folders: Folder[] = [folder];
  let targets: readonly Target[] = [];
  let root = compiler.compile(folder).root;
  for (let step = 0; step < steps; step++) {
    if (step % watchedEvery === 0) targets = targetsOf(folder, readsOf(folder, options));
    const edited = randomEdit({ dice, materials, coverage, history: folders, targets }, folder);
    folders.push(edited.folder);
    const judged = compiler.compile(edited.folder);
    const strangers =
      step % aloneEvery === 0 && judged.fresh !== undefined ? strangersIn(edited.folder, options, judged.fresh) : [];
    const findings = [...judged.findings, ...strangers];
    if (findings.length > 0) {
      failures.push({ seed, options, folders, what: edited.what, findings });
      compiler = createWarmCompiler(options);
      folders = [edited.folder];
      compiler.learn(edited.folder);
    }
    record(coverage, folder, edited.folder, judged.root !== root);
    folder = edited.folder;
    root = judged.root;
  }
  return [...failures, ...otherWay({ seed, options, folders: otherWayTo(dice, folders) })];
}

function otherWay(history: Omit<WarmFailure, "what" | "findings">): readonly WarmFailure[] {
  const findings = findingsAfter(history);
  return findings.length === 0 ? [] : [{ ...history, what: "another way to the same folder", findings }];
}

/** From the first to the last of some folders, object by object, in any order. */
function otherWayTo(dice: Dice, folders: readonly Folder[]): readonly Folder[] {
  const [first, last] = [folders[0], folders.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [old, wanted] = [first, last].map(
    ({ objects }) => new Map(objects.map((placed) => [placeKey(placed), placed])),
  );
  const keys = shuffled(dice, [...new Set([...(old?.keys() ?? []), ...(wanted?.keys() ?? [])])]);
  const stops = [1, 2, 3, 4].map((part) => Math.floor((keys.length * part) / 5));
  const between = stops.map((stop, at): Folder => {
    const settled = new Set(keys.slice(0, stop));
    const objects = keys.flatMap((key) => (settled.has(key) ? wanted : old)?.get(key) ?? []);
    return { ...(at % 2 === 0 ? last : first), objects };
  });
  return [first, ...between, last];
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
    ...dice.maybe(50, () => ({
      gatewayApi: { alphaKinds: dice.chance(80), secrets: dice.pick(["sources", "elsewhere"] as const) },
    })),
    binaryForms: dice.chance(8),
    nodes: dice.chance(30) ? randomSource(seed).proxies.map(nodeOfNamed) : [],
    ...dice.maybe(60, () => ({ release: dice.pick(releases) })),
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
