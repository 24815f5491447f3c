import type { Diagnostic, Stage } from "../base/diagnostic.ts";
import type { LoadedDirectory, SourceFile } from "../config/folder/directory.ts";
import type { ReadAhead } from "../config/folder/files/read-ahead.ts";
import { emptyFolder, readAgain } from "../config/folder/last-valid.ts";
import { wholeFolder } from "../config/folder/whole-folder.ts";
import { createSecretsFilter } from "../config/secrets/without-secrets.ts";
import { createMemo, type Memo } from "../incremental/memo.ts";
import { buildMesh } from "../mesh/build-mesh.ts";
import { classify } from "../mesh/classes/classify.ts";
import { eachClass } from "../mesh/classes/enter-classes.ts";
import type { ProxyViews } from "../mesh/views/view-columns.ts";
import type { World } from "../mesh/world.ts";
import { type ConsulHost, type ConsulListing, consulHost } from "../registry/consul/convert.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { boundedBySource } from "./bounded-diagnostics.ts";
import { type CountedWorld, compile, countClasses, type Reuse } from "./compile.ts";
import { createShardsReader } from "./read-shards.ts";
import type { Shard } from "./shards/shard.ts";
import { type Slice, wholeWorld } from "./slices/slice.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { type MemoUse, type Staged, unwatched } from "./telemetry/observer.ts";
import { refuseUnusableSettings } from "./world/unusable-settings.ts";
import { type WorldOptions, worldOf } from "./world/world-of.ts";

export interface FilesCompiled extends Stage<CompiledWorld> {
  /** How many objects the files hold that could be read. */
  readonly objects: number;
  /** What was compiled. */
  readonly loaded: LoadedDirectory & {
    /** Hosts that none of its objects tells of, those of Consul. */
    readonly otherHosts: readonly ConsulHost[];
    /** Ids of all clusters, the primary source's first. */
    readonly clusterIds: readonly string[];
  };
  /** How much of it was remembered from compiles before. */
  readonly memo: MemoUse;
}

/**
 * Compiles sources, the primary first: its files by their own names, those of the others under their source's. What comes out
 * follows from the shards alone; a compiler remembers the ones before only so that a call costs what changed.
 */
export type ShardCompiler = (shards: readonly Shard[], staged?: Staged, slice?: Slice, reuse?: Reuse) => FilesCompiled;

export const createShardCompiler = (options: WorldOptions): ShardCompiler => createShardCompilers(options).compile;

/** What goes over sources with one memory: what did not change between two calls, of either, keeps its identity. */
export interface ShardCompilers {
  readonly compile: ShardCompiler;
  /**
   * What the classes of proxies are made from, by their ids; nothing is made.
   *
   * @param skipRules as `folderOf` has it
   */
  readonly viewsOf: (shards: readonly Shard[], skipRules: (file: string) => boolean) => ReadonlyMap<string, ProxyViews>;
}

/** @param ahead what was read of the primary source while it was written; absent: nothing */
export function createShardCompilers(options: WorldOptions, ahead?: ReadAhead): ShardCompilers {
  const memo = createMemo();
  const read = createShardsReader(options, ahead);
  const compileFolders = createFolderCompiler(options, memo);
  return {
    compile(shards, staged = unwatched, slice = wholeWorld, reuse = {}) {
      const { content, sources, ...beside } = read(shards);
      return compileFolders(content, sources, beside, staged, slice, reuse);
    },
    viewsOf(shards, skipRules) {
      const { content, consul, clusterId } = read(shards, skipRules);
      return viewsIn(worldOf(content, { ...options, clusterId }, memo, consul).value, memo);
    },
  };
}

/** What the classes of a world's proxies are made from, by their ids. */
export function viewsIn(world: World, memo: Memo): ReadonlyMap<string, ProxyViews> {
  const { classes } = classify(buildMesh(world, memo).value, world.proxies, memo).value;
  return new Map(eachClass(classes).map(({ id, views }) => [id, views]));
}

/** A world out of sources, once: whoever holds it holds none of their texts, nor what reading them has remembered. */
export interface LoadedWorld {
  readonly world: Stage<World>;
  readonly sources: readonly CompiledSource[];
  /** Of reading the sources; those of the world are its own. */
  readonly diagnostics: readonly Diagnostic[];
  /** How many objects could be read. */
  readonly objects: number;
  /** Somebody has said of a source that it may hold nothing. */
  readonly isMeantEmpty: boolean;
}

export const loadWorld = (shards: readonly Shard[], options: WorldOptions): LoadedWorld =>
  createWorldLoader(options)(shards);

/** Loads one world after the other: what did not change between them keeps its identity. @param skipRules as `folderOf` has it */
export type WorldLoader = (shards: readonly Shard[], skipRules?: (file: string) => boolean) => LoadedWorld;

export function createWorldLoader(options: WorldOptions): WorldLoader {
  const read = createShardsReader(options);
  const memo = createMemo();
  return (shards, skipRules) => {
    const { content, sources, consul, clusterId } = read(shards, skipRules);
    refuseUnusableSettings(content);
    return {
      world: worldOf(content, { ...options, clusterId }, memo, consul),
      sources,
      diagnostics: content.diagnostics,
      objects: objectsIn(content, consul),
      isMeantEmpty: shards.some(({ isMeantEmpty }) => isMeantEmpty === true),
    };
  };
}

const objectsIn = ({ configs, objects, clusters }: LoadedDirectory, consul: readonly ConsulListing[]): number =>
  configs.length + objects.length + clusters.length + consul.length;

/** Its classes, with what was said on the way to them. */
export function countLoaded(
  { world, sources, diagnostics: read }: LoadedWorld,
  memo: Memo,
  staged: Staged,
  slice: Slice,
): CountedWorld {
  const counted = countClasses(world.value, sources, memo, staged, slice);
  return { ...counted, diagnostics: [...read, ...world.diagnostics, ...counted.diagnostics] };
}

/** A compiled world with the diagnostics of what came before compiling. */
export function withEarlier(compiled: Stage<CompiledWorld>, earlier: readonly Diagnostic[]): Stage<CompiledWorld> {
  const diagnostics = sortDiagnostics([...earlier, ...compiled.diagnostics]);
  return { value: { ...compiled.value, diagnostics }, diagnostics };
}

function withBound(compiled: Stage<CompiledWorld>): Stage<CompiledWorld> {
  const names = compiled.value.sources.map(({ name }) => name);
  const diagnostics = boundedBySource(compiled.diagnostics, names);
  return diagnostics === compiled.diagnostics ? compiled : { value: { ...compiled.value, diagnostics }, diagnostics };
}

/** Compiles the files of one folder that lies in no store; an object that breaks from call to call keeps its last valid form. */
export type FileCompiler = (files: readonly SourceFile[], sources: readonly CompiledSource[]) => FilesCompiled;

export function createFileCompiler(options: WorldOptions, memo?: Memo): FileCompiler {
  const compileFolders = createFolderCompiler(options, memo);
  const withoutSecrets = createSecretsFilter();
  let folder = emptyFolder("");
  return (files, sources) => {
    folder = readAgain(folder, withoutSecrets(files));
    return compileFolders(wholeFolder(folder), sources);
  };
}

/** What is compiled and analysed, out of what sources hold. */
export const worldContent = (
  content: LoadedDirectory,
  consul: readonly ConsulListing[],
  clusterId: string,
): FilesCompiled["loaded"] => ({
  ...content,
  otherHosts: consul.map(consulHost),
  clusterIds: [clusterId, ...content.clusters.map(({ id }) => id)],
});

/** What no folder says. */
interface Beside {
  readonly clusterId?: string;
  readonly consul?: readonly ConsulListing[];
}

/** Compiles what was read already. Remembers what it made, by what it was made from. */
export function createFolderCompiler(options: WorldOptions, memo = createMemo()) {
  return (
    loaded: LoadedDirectory,
    sources: readonly CompiledSource[],
    { clusterId = options.clusterId, consul = [] }: Beside = {},
    staged = unwatched,
    slice = wholeWorld,
    reuse: Reuse = {},
  ): FilesCompiled => {
    refuseUnusableSettings(loaded);
    const before = memoUseOf(memo);
    const world = staged("world", () => worldOf(loaded, { ...options, clusterId }, memo, consul));
    const compiled = compile(world.value, sources, memo, staged, slice, reuse);
    const after = memoUseOf(memo);
    const told = withEarlier(compiled, [...loaded.diagnostics, ...world.diagnostics]);
    return {
      // Those of slices are cut once they are together.
      ...(slice.of === 1 ? withBound(told) : told),
      objects: objectsIn(loaded, consul),
      loaded: worldContent(loaded, consul, clusterId),
      memo: { hits: after.hits - before.hits, misses: after.misses - before.misses },
    };
  };
}

const memoUseOf = ({ known }: Memo): MemoUse => ({ hits: known?.hits ?? 0, misses: known?.misses ?? 0 });
