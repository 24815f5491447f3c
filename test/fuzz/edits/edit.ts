import { readFiles, type SourceFile } from "../../../lib/config/folder/directory.ts";
import type { Dice } from "../objects/dice.ts";
import type { Manifest } from "../objects/vocabulary.ts";
import type { Coverage } from "./coverage.ts";
import { type Folder, type Placed, placeKey } from "./folder.ts";
import type { Materials } from "./materials.ts";
import type { Target } from "./targets.ts";

/** A folder after an edit, and what the edit was. */
export interface Edited {
  readonly what: string;
  readonly folder: Folder;
}

/** What an edit may depend on. */
export interface EditContext {
  readonly dice: Dice;
  readonly materials: Materials;
  /** Places that were edited least are chosen more often. */
  readonly coverage: Coverage;
  /** Folders of before, the newest last. */
  readonly history: readonly Folder[];
  /** Places that the last compile that was watched asked for. */
  readonly targets: readonly Target[];
}

/** @returns undefined where it does not apply */
export type Edit = (context: EditContext, folder: Folder) => Edited | undefined;

/** The folder with an object in the place of another one; undefined for what says the same, or is refused. */
export function replaced(
  folder: Folder,
  placed: Placed,
  manifest: Manifest | undefined,
  what: string,
): Edited | undefined {
  if (manifest === undefined || sameJson(placed.manifest, manifest) || !isAcceptedObject(manifest)) return undefined;
  const objects = folder.objects.map((each) => (each === placed ? { ...placed, manifest } : each));
  return { what: `${placeKey(placed)} ${what}`, folder: { ...folder, objects } };
}

/** The first of some attempts that gives anything. */
export function tried<T>(times: number, attempt: () => T | undefined): T | undefined {
  for (let turn = 0; turn < times; turn++) {
    const made = attempt();
    if (made !== undefined) return made;
  }
  return undefined;
}

/** A changed object is still an object, under its own name. */
export const asManifest = ({ apiVersion, kind, metadata }: Manifest, changed: unknown): Manifest | undefined =>
  typeof changed === "object" && changed !== null ? { ...changed, apiVersion, kind, metadata } : undefined;

export const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export const isAcceptedObject = (manifest: Manifest): boolean =>
  isAccepted({ file: "object.yaml", text: JSON.stringify(manifest) });

export const isAccepted = (file: SourceFile): boolean =>
  readFiles([file]).diagnostics.every(({ severity }) => severity !== "error");
