import { type Diagnostic, fileOrigin, type Origin } from "../../base/diagnostic.ts";
import { defaultMeshConfig, type MeshConfig } from "../kinds/mesh-config.ts";
import { noMeshNetworks } from "../kinds/mesh-networks.ts";
import { type FolderSettings, noFolderSettings } from "../kinds/stated-endpoints.ts";
import { readMeshConfig } from "../read-mesh-config.ts";
import { keptInForce } from "./copies.ts";
import { isSettings, type LoadedDirectory, meshFile, networksFile, settingsFile, unreadableFile } from "./directory.ts";
import {
  errorsIn,
  type FilesByName,
  type FolderState,
  isUnreadable,
  isWhole,
  type KeptState,
  keyOf,
  type Placed,
  type ReadFile,
  refusedKeys,
} from "./folder-state.ts";
import { latest } from "./join-folders.ts";
import { createMayHold } from "./may-hold.ts";
import { settingsOver } from "./read-folder-settings.ts";

/** Everything that the folder says now, with the last valid forms of what it refuses, and a warning for each of those. */
export function wholeFolder({ under, parts, files, kept: allKept, keys, said }: FolderState): LoadedDirectory {
  const byName = allKept.length === 0 ? noFiles : files();
  const kept = keptInForce(allKept, byName);
  const reads = parts.map((part) => part.read());
  const instead = new Map(kept.filter(({ key }) => key === "").map(({ file, read }) => [file, read()] as const));
  const wholes = new Map(reads.flatMap((read) => read.wholes));
  const wholeOf = (file: string) => instead.get(file) ?? wholes.get(file);
  const areDistinct = keys.areDistinct();
  const lastOf = (file: string) => kept.find((form) => form.key === "" && form.file === file);
  const lists = said.lists();
  const configs = latest(lists.configs, areDistinct);
  const objects = latest(lists.objects, areDistinct);
  const keptConfigs = pick(kept, ({ configs: list }) => list);
  const keptObjects = pick(kept, ({ objects: list }) => list);
  const speaking = reads.flatMap((read) => read.speaking);
  const unsettled = reads.flatMap((read) => read.unsettled);
  const unusableSettings = [
    ...[...wholes].flatMap(([file, read]) => (instead.has(file) ? [] : (read.unusableSettings ?? []))),
    // Of one that cannot be opened, and never could be, nothing is known.
    ...unsettled.flatMap(([file, { problem, text }]) =>
      problem !== undefined && text === "" && isSettings(file) ? [unreadableFile(under + file, problem)] : [],
    ),
  ];
  const errors = speaking.flatMap(errorsIn);
  const refusals = Map.groupBy(
    errors.flatMap((error) => refusedKeys(error).map((key) => ({ key, origin: error.origin }))),
    ({ key }) => key,
  );
  const hiding = kept.length === 0 ? [] : filesThatHide(byName);
  const mayHold = createMayHold(byName);
  const hiddenIn = (object: Placed): Diagnostic => {
    const { file, key } = object.origin;
    const sought = { key: keyOf(object), file: file.slice(under.length) };
    const itsOwn = hiding.find((one) => one === sought.file);
    const found = itsOwn ?? hiding.find((one) => mayHold(one, sought)) ?? hiding[0] ?? sought.file;
    return hiddenWarning({ key, file: under + found, line: 0 });
  };
  const warningOf = (object: Placed): Diagnostic => {
    // Of several copies that are broken the one in its own file goes before the others.
    const refused = (refusals.get(keyOf(object)) ?? []).map(({ origin }) => origin);
    const own = refused.find(({ file }) => file === object.origin.file);
    const isHidden = hiding.includes(object.origin.file.slice(under.length));
    const at = own ?? (isHidden ? undefined : refused.at(-1));
    return at === undefined ? hiddenIn(object) : keptWarning(at);
  };
  return {
    configs: withKept(configs.list, keptConfigs),
    objects: withKept(objects.list, keptObjects),
    others: lists.others,
    closed: reads.flatMap(({ closed }) => closed),
    clusters: Array.from(wholes, ([file, read]) => (instead.get(file) ?? read).clusters).flat(),
    meshConfig:
      settledMeshConfig(byName.get(meshFile)?.text, lastOf(meshFile)) ??
      wholeOf(meshFile)?.meshConfig ??
      defaultMeshConfig,
    meshNetworks: wholeOf(networksFile)?.meshNetworks ?? noMeshNetworks,
    settings:
      settledFolderSettings(byName.get(settingsFile)?.text, lastOf(settingsFile)) ??
      wholeOf(settingsFile)?.settings ??
      noFolderSettings,
    ...(unusableSettings.length === 0 ? {} : { unusableSettings }),
    diagnostics: [
      ...speaking.flatMap(({ diagnostics }) => diagnostics),
      ...configs.diagnostics,
      ...objects.diagnostics,
      ...unsettled.flatMap(([file, { problem }]) =>
        problem === undefined ? [] : [unreadableFile(under + file, problem)],
      ),
      ...unsettled.filter(([, { halfSaved }]) => halfSaved).map(([file]) => halfSavedWarning(under + file)),
      ...[...keptConfigs, ...keptObjects].map(warningOf),
      ...[...instead.keys()].map((file) => keptWarning(fileOrigin(under + file))),
    ],
  };
}

/** Settings by the last valid form that they are laid over, for the latest text: whoever reads a folder again finds the same object. */
const settled = new WeakMap<ReadFile, { readonly text: string; readonly value: MeshConfig }>();

/**
 * What a text with errors says of the mesh, over its last valid form.
 *
 * @returns undefined where no valid form is kept: there are no errors, or there never was one
 */
function settledMeshConfig(text: string | undefined, last: KeptState | undefined): MeshConfig | undefined {
  if (text === undefined || last === undefined) return undefined;
  const before = last.read();
  const known = settled.get(before);
  if (known?.text === text) return known.value;
  const now = readMeshConfig(text, meshFile, last.text).value;
  // What comes to the same is the same object: nothing has to be compiled anew.
  const value = JSON.stringify(now) === JSON.stringify(before.meshConfig) ? before.meshConfig : now;
  settled.set(before, { text, value });
  return value;
}

/** The same of `portolan.yaml`. */
function settledFolderSettings(text: string | undefined, last: KeptState | undefined): FolderSettings | undefined {
  if (text === undefined || last === undefined) return undefined;
  const before = last.read().settings;
  const now = settingsOver(text, settingsFile, last.text);
  return JSON.stringify(now) === JSON.stringify(before) ? before : now;
}

/** Where nothing is kept, nobody asks for a file by its name. */
const noFiles: FilesByName = new Map();

/** Files that nobody can read and that may hold objects. */
const filesThatHide = (files: FilesByName): readonly string[] =>
  [...files].filter(([file, state]) => !isWhole(file) && isUnreadable(state)).map(([file]) => file);

/** The kept objects of one sort. Many may be of one file, which is gone through once. */
function pick<T extends Placed>(
  kept: readonly KeptState[],
  listOf: (read: LoadedDirectory) => readonly T[],
): readonly T[] {
  const byKey = new Map<readonly T[], ReadonlyMap<string, readonly T[]>>();
  return kept.flatMap(({ key, read }) => {
    const list = listOf(read());
    const known = byKey.get(list) ?? Map.groupBy(list, keyOf);
    byKey.set(list, known);
    return known.get(key) ?? [];
  });
}

/** What is there, with the kept objects in the place of their copies. */
function withKept<T extends Placed>(present: readonly T[], kept: readonly T[]): readonly T[] {
  if (kept.length === 0) return present;
  const keys = new Set(kept.map(keyOf));
  return [...present.filter((object) => !keys.has(keyOf(object))), ...kept];
}

const halfSavedWarning = (file: string): Diagnostic =>
  warning("half-saved", fileOrigin(file), {
    message: "holds only the beginning of what it held, so it is taken as half saved; what it held is still served",
    hint: "save the whole file; to remove objects, delete their lines or the file",
  });

/** @param origin the object, and the file that nobody can read; a line of what was there before would say nothing */
const hiddenWarning = (origin: Origin): Diagnostic =>
  warning("last-valid-served", origin, {
    message:
      "the last valid version of this object is still served, because this file cannot be read and may contain it",
    hint: "make the file readable; delete the object from it, or the file, to remove the object",
  });

/** @param origin of the refused form, or of the file that is */
const keptWarning = (origin: Origin): Diagnostic =>
  warning("last-valid-served", origin, {
    message: `${origin.key.kind === "" ? "the content of this file" : "its form"} before is still served in place of what is refused`,
    hint: "correct or remove it; nothing was removed from what is served",
  });

const warning = (code: Diagnostic["code"], origin: Origin, said: Pick<Diagnostic, "message" | "hint">): Diagnostic => ({
  code,
  severity: "warning",
  origin,
  path: [],
  ...said,
});
