import type { Config } from "./config.ts";
import { type Diagnostic, fileOrigin, keyText } from "./diagnostic.ts";
import { type LoadedDirectory, readFiles, type SourceFile } from "./directory.ts";
import { defaultMeshConfig } from "./kinds/mesh-config.ts";
import { noMeshNetworks } from "./kinds/mesh-networks.ts";
import type { ParsedObject } from "./parse.ts";

/** A folder as last read: each file by itself, so that the next reading costs what changed. */
export interface FolderState {
  readonly files: ReadonlyMap<string, FileState>;
}

interface FileState {
  readonly text: string;
  readonly read: LoadedDirectory;
  /** Objects of an earlier text that this one holds in a form that is refused; they go on being served. */
  readonly kept: readonly string[];
}

export const noFolder: FolderState = { files: new Map() };

/**
 * Reads the files of a folder again. A file with the same text keeps its objects; an object that reads the same keeps its
 * identity; and an object that is refused, or stands in a file that cannot be read, keeps its last valid form: a slip of the pen
 * never takes down what was served.
 *
 * @param files all files of the folder, in the order of their paths
 */
export function readAgain(previous: FolderState, files: readonly SourceFile[]): FolderState {
  return {
    files: new Map(
      files.map(({ file, text }) => {
        const before = previous.files.get(file);
        if (before?.text === text) return [file, withoutHalfSaved(before)] as const;
        if (before !== undefined && isHalfSaved(before.text, text)) return [file, halfSaved(before, file)] as const;
        return [file, readFile(before, file, text)] as const;
      }),
    ),
  };
}

const halfSavedCode = "half-saved";

/**
 * Whether a text is the beginning of the one before and ends within a line, or is empty: somebody is writing it. Objects
 * taken out on purpose leave whole lines, or no file.
 */
function isHalfSaved(before: string, now: string): boolean {
  return before.trim() !== "" && now.length < before.length && !now.endsWith("\n") && before.startsWith(now);
}

/** The file as it was; its text stays, so that a complete save is compared with what is served. */
function halfSaved(before: FileState, file: string): FileState {
  const diagnostic: Diagnostic = {
    code: halfSavedCode,
    severity: "warning",
    origin: fileOrigin(file),
    path: [],
    message:
      "holds only the beginning of what it held, so it is taken as half saved; what it held goes on being served",
    hint: "save it whole; to take objects out, remove their lines or the file",
  };
  const diagnostics = [...before.read.diagnostics.filter(({ code }) => code !== halfSavedCode), diagnostic];
  return { ...before, read: { ...before.read, diagnostics } };
}

function withoutHalfSaved(state: FileState): FileState {
  const diagnostics = state.read.diagnostics.filter(({ code }) => code !== halfSavedCode);
  return diagnostics.length === state.read.diagnostics.length
    ? state
    : { ...state, read: { ...state.read, diagnostics } };
}

function readFile(before: FileState | undefined, file: string, text: string): FileState {
  const read = readFiles([{ file, text }]);
  if (before === undefined) return { text, read, kept: [] };
  const broken = read.diagnostics.filter(({ severity }) => severity === "error");
  const unreadable = broken.some(({ origin }) => origin.key.kind === "");
  const refused = new Set(broken.map(({ origin }) => keyText(origin.key)));
  const isKept = (key: string) => unreadable || refused.has(key);
  const configs = merge(before.read.configs, read.configs, configKey, isKept, sameConfig);
  const objects = merge(before.read.objects, read.objects, (object) => keyText(object.origin.key), isKept, sameObject);
  const meshBroken = broken.length > 0;
  return {
    text,
    read: {
      ...read,
      configs: configs.list,
      objects: objects.list,
      clusters: unreadable ? before.read.clusters : read.clusters,
      meshConfig: meshBroken ? before.read.meshConfig : read.meshConfig,
      meshNetworks: meshBroken ? before.read.meshNetworks : read.meshNetworks,
    },
    kept: [...configs.kept, ...objects.kept],
  };
}

/** New objects, those that did not change by their old identity, then the kept ones. */
function merge<T>(
  before: readonly T[],
  now: readonly T[],
  keyOf: (object: T) => string,
  isKept: (key: string) => boolean,
  same: (a: T, b: T) => boolean,
): { readonly list: readonly T[]; readonly kept: readonly string[] } {
  const earlier = new Map(before.map((object) => [keyOf(object), object] as const));
  const present = new Set(now.map(keyOf));
  const list = now.map((object) => {
    const old = earlier.get(keyOf(object));
    return old !== undefined && same(old, object) ? old : object;
  });
  const kept = [...earlier].filter(([key]) => !present.has(key) && isKept(key));
  return { list: [...list, ...kept.map(([, object]) => object)], kept: kept.map(([key]) => key) };
}

const configKey = (config: Config): string => keyText(config.origin.key);
const sameConfig = (a: Config, b: Config): boolean => JSON.stringify(a) === JSON.stringify(b);
const sameObject = (a: ParsedObject, b: ParsedObject): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Everything that the folder says now, with what went on from earlier texts, and a warning for each of those. */
export function wholeFolder(state: FolderState): LoadedDirectory {
  const reads = [...state.files.entries()];
  const meshConfig = reads.find(([file]) => file === "mesh.yaml")?.[1].read.meshConfig ?? defaultMeshConfig;
  const meshNetworks = reads.find(([file]) => file === "networks.yaml")?.[1].read.meshNetworks ?? noMeshNetworks;
  const configs = latest(
    reads.flatMap(([, { read }]) => read.configs),
    configKey,
  );
  const objects = latest(
    reads.flatMap(([, { read }]) => read.objects),
    (object) => keyText(object.origin.key),
  );
  return {
    configs,
    objects,
    others: reads.flatMap(([, { read }]) => read.others),
    clusters: reads.flatMap(([, { read }]) => read.clusters),
    meshConfig,
    meshNetworks,
    diagnostics: reads.flatMap(([file, state]) => [...state.read.diagnostics, ...keptWarnings(file, state)]),
  };
}

/** One per key, the later one, at the place of the first. */
function latest<T>(list: readonly T[], keyOf: (object: T) => string): readonly T[] {
  return [...new Map(list.map((object) => [keyOf(object), object] as const)).values()];
}

function keptWarnings(file: string, { kept }: FileState): readonly Diagnostic[] {
  if (kept.length === 0) return [];
  return [
    {
      code: "last-valid-served",
      severity: "warning",
      origin: fileOrigin(file),
      path: [],
      message: `the last valid form of ${kept.length} ${kept.length === 1 ? "object" : "objects"} goes on being served: ${kept.slice(0, 5).join(", ")}${kept.length > 5 ? ", …" : ""}`,
      hint: "mend the file; nothing was taken down",
    },
  ];
}
