import { defaultWorldOptions, type WorldOptions } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { type Folder, filesOf, placeKey } from "./folder.ts";
import { fieldsOf } from "./value-pool.ts";
import { createWarmCompiler } from "./warm-and-fresh.ts";

/** Folders after which a compiler that had all of them before answers otherwise than one that has only the last. */
export interface History {
  readonly options: WorldOptions;
  readonly folders: readonly Folder[];
}

/** What differs after the last folder; empty where nothing does. */
export function findingsAfter({ options, folders }: History): readonly string[] {
  const compiler = createWarmCompiler(options);
  for (const folder of folders.slice(0, -1)) compiler.learn(folder);
  return folders.slice(-1).flatMap((folder) => compiler.compile(folder).findings);
}

/** The history with everything gone that the failure does not need: mostly two folders that differ in a field. */
export function shrink(history: History, deadlineMs: number): History {
  let smallest = history;
  const attempt = (candidate: History): boolean => {
    if (Date.now() > deadlineMs || !candidate.folders.every(isAccepted)) return false;
    if (findingsAfter(candidate).length === 0) return false;
    smallest = candidate;
    return true;
  };
  const last = history.folders.slice(-1);
  const pair = history.folders
    .slice(0, -1)
    .toReversed()
    .some((folder) => attempt({ ...history, folders: [folder, ...last] }));
  if (!pair) {
    for (let at = 0; at < smallest.folders.length - 1; ) {
      if (!attempt({ ...smallest, folders: smallest.folders.toSpliced(at, 1) })) at++;
    }
  }
  for (const name of ["nodes", "legacyApi", "certificates", "binaryForms", "compat"] as const) {
    const { [name]: _, ...options } = smallest.options;
    attempt({ ...smallest, options: { ...defaultWorldOptions, ...options } });
  }
  for (const rounds of [1, 2]) {
    for (let size = 8 / rounds; size >= 1; size = Math.floor(size / 2)) removeObjects(smallest, size, attempt);
    for (const path of settingsPaths(smallest)) attempt(changed(smallest, (folder) => withoutSetting(folder, path)));
    for (const key of keysOf(smallest)) removeFields(() => smallest, key, attempt);
  }
  attempt(changed(smallest, inOneFile));
  return smallest;
}

const isAccepted = (folder: Folder): boolean =>
  readFiles(filesOf(folder)).diagnostics.every(({ severity }) => severity !== "error");

const changed = (history: History, change: (folder: Folder) => Folder): History => ({
  ...history,
  folders: history.folders.map(change),
});

const keysOf = ({ folders }: History): readonly string[] => [
  ...new Set(folders.flatMap(({ objects }) => objects.map(placeKey))),
];

function removeObjects(history: History, size: number, attempt: (candidate: History) => boolean): void {
  let current = history;
  const keys = keysOf(history);
  for (let at = 0; at < keys.length; at += size) {
    const gone = new Set(keys.slice(at, at + size));
    const candidate = changed(current, (folder) => ({
      ...folder,
      objects: folder.objects.filter((placed) => !gone.has(placeKey(placed))),
    }));
    if (attempt(candidate)) current = candidate;
  }
}

type JsonPath = readonly string[];

/** Fields of the settings' files, from the top down. */
function settingsPaths({ folders }: History): readonly JsonPath[] {
  return unique(
    folders.flatMap(({ meshConfig, networks }) => [
      ...(meshConfig === undefined ? [] : [["meshConfig"]]),
      ...pathsOf(meshConfig, ["meshConfig"]),
      ...(networks === undefined ? [] : [["networks"]]),
      ...pathsOf(networks, ["networks"]),
    ]),
  );
}

function withoutSetting(folder: Folder, [which = "", ...path]: JsonPath): Folder {
  if (which === "meshConfig")
    return { ...folder, meshConfig: path.length === 0 ? undefined : objectOf(without(folder.meshConfig, path)) };
  return { ...folder, networks: path.length === 0 ? undefined : objectOf(without(folder.networks, path)) };
}

const objectOf = (value: unknown): object | undefined =>
  typeof value === "object" && value !== null ? value : undefined;

function removeFields(current: () => History, key: string, attempt: (candidate: History) => boolean): void {
  const paths = unique(
    current().folders.flatMap(({ objects }) =>
      objects.filter((placed) => placeKey(placed) === key).flatMap(({ manifest }) => pathsOf(manifest, [])),
    ),
  );
  for (const path of paths.filter(([first]) => first !== "apiVersion" && first !== "kind").toReversed()) {
    if (path[0] === "metadata" && (path.length === 1 || path[1] === "name" || path[1] === "namespace")) continue;
    attempt(
      changed(current(), (folder) => ({
        ...folder,
        objects: folder.objects.map((placed) => {
          if (placeKey(placed) !== key) return placed;
          const { apiVersion, kind, metadata } = placed.manifest;
          return { ...placed, manifest: { apiVersion, kind, metadata, ...fieldsOf(without(placed.manifest, path)) } };
        }),
      })),
    );
  }
}

/** Elements of lists count as fields; the last first, so that the places of others stay. */
function pathsOf(value: unknown, at: JsonPath): readonly JsonPath[] {
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? [...value.entries()].map(([index, element]) => [String(index), element])
    : Object.entries(fieldsOf(value));
  return entries.flatMap(([name, member]) =>
    [...pathsOf(member, [...at, name]).toReversed(), [...at, name]].toReversed(),
  );
}

function without(value: unknown, path: JsonPath): unknown {
  const [step = "", ...below] = path;
  if (Array.isArray(value)) {
    const index = Number(step);
    if (below.length === 0) return value.filter((_, at) => at !== index);
    return value.map((element: unknown, at) => (at === index ? without(element, below) : element));
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return value;
  const { [step]: member, ...others } = fieldsOf(value);
  return below.length === 0 ? others : { ...others, [step]: without(member, below) };
}

const unique = (paths: readonly JsonPath[]): readonly JsonPath[] => [
  ...new Map(paths.map((path) => [path.join("\u0000"), path])).values(),
];

const inOneFile = (folder: Folder): Folder => ({
  ...folder,
  objects: folder.objects.map(({ file, manifest }) => ({
    file: file.startsWith("clusters/") ? file : "a.yaml",
    manifest,
  })),
});
