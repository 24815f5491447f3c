import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import type { LoadedDirectory, SourceFile } from "../config/folder/directory.ts";
import type { FolderState } from "../config/folder/folder-state.ts";
import { emptyFolder, folderOf, readAgain } from "../config/folder/last-valid.ts";
import { sameRegistry, withConfigurationOf } from "../config/folder/planes.ts";
import type { ReadAhead } from "../config/folder/read-ahead.ts";
import { wholeFolder } from "../config/folder/whole-folder.ts";
import { sameElements } from "../config/same-elements.ts";
import { buildMesh } from "../mesh/build-mesh.ts";
import { classify } from "../mesh/classes/classify.ts";
import { eachClass } from "../mesh/classes/enter-classes.ts";
import { createMemo, type Memo } from "../mesh/memo/memo.ts";
import type { ProxyViews } from "../mesh/views/view-columns.ts";
import type { World } from "../mesh/world.ts";
import { type ConsulHost, type ConsulListing, consulHost } from "../registry/consul/convert.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { joinShards } from "./collected/join-shards.ts";
import {
  type CollectedLoader,
  type CollectedReads,
  createCollectedLoader,
  type LoadedShard,
} from "./collected/load-collected.ts";
import { type CountedWorld, compile, countClasses, type Reuse } from "./compile.ts";
import { isCollected, isHeld, type Shard, type ShardContent } from "./shards/shard.ts";
import { type SourceShard, textsOfShard } from "./shards/source-shard.ts";
import { type Slice, wholeWorld } from "./slices/slice.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { type MemoUse, type Staged, unwatched } from "./telemetry/observer.ts";
import { type WorldOptions, worldOf } from "./world-of.ts";

export interface FilesCompiled extends Stage<CompiledWorld> {
  /** How many objects the files hold that could be read. */
  readonly objects: number;
  /** What was compiled. */
  readonly loaded: LoadedDirectory & {
    /** Hosts that none of its objects tells of, those of Consul. */
    readonly otherHosts: readonly ConsulHost[];
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
   * @param isFaultless as `folderOf` has it
   */
  readonly viewsOf: (
    shards: readonly Shard[],
    isFaultless: (file: string) => boolean,
  ) => ReadonlyMap<string, ProxyViews>;
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
    viewsOf(shards, isFaultless) {
      const { content, consul, clusterId } = read(shards, isFaultless);
      const world = worldOf(content, { ...options, clusterId }, memo, consul).value;
      const { classes } = classify(buildMesh(world, memo).value, world.proxies, memo).value;
      return new Map(eachClass(classes).map(({ id, views }) => [id, views]));
    },
  };
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

export function loadWorld(shards: readonly Shard[], options: WorldOptions): LoadedWorld {
  const { content, sources, consul, clusterId } = createShardsReader(options)(shards);
  return {
    world: worldOf(content, { ...options, clusterId }, createMemo(), consul),
    sources,
    diagnostics: content.diagnostics,
    objects: objectsIn(content, consul),
    isMeantEmpty: shards.some(({ isMeantEmpty }) => isMeantEmpty === true),
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

/** A compiled world with what was said on the way to it. */
function withEarlier(compiled: Stage<CompiledWorld>, earlier: readonly Diagnostic[]): Stage<CompiledWorld> {
  const diagnostics = sortDiagnostics([...earlier, ...compiled.diagnostics]);
  return { value: { ...compiled.value, diagnostics }, diagnostics };
}

/** What shards say together; files and objects that read as before keep their identity. */
function createShardsReader(options: WorldOptions, ahead?: ReadAhead) {
  let folders: ReadonlyMap<string, LoadedFolder> = new Map();
  /** By the configuration that is held, the newest under "": the lists of two are compared with their own. */
  let lasts: ReadonlyMap<string, LoadedDirectory> = new Map();
  const heldFolders = new WeakMap<ShardContent, LoadedFolder>();
  const heldLoaders = new WeakMap<ShardContent, CollectedLoader>();
  const loaders = new Map<string, { readonly reads: CollectedReads; readonly load: CollectedLoader }>();
  const loadersOf = (name: string) => {
    const reads: CollectedReads = new WeakMap();
    const found = loaders.get(name) ?? { reads, load: createCollectedLoader(reads) };
    loaders.set(name, found);
    return found;
  };
  return (shards: readonly Shard[], isFaultless?: IsFaultless) => {
    const now = new Map<string, LoadedFolder>();
    const loadNewest = (shard: ShardContent, isFirst: boolean): LoadedShard => {
      if (isCollected(shard)) return loadersOf(shard.name).load(shard);
      const before = folders.get(shard.name);
      const fresh = () => (isFirst ? ahead?.take() : undefined) ?? emptyFolder(underOf(shard, isFirst));
      const folder = folderAfter(before, shard, { under: underOf(shard, isFirst), fresh, isFaultless });
      now.set(shard.name, folder);
      return { content: folder.content };
    };
    const loadHeld = (shard: ShardContent, isFirst: boolean): LoadedShard => {
      if (isCollected(shard)) {
        const load = heldLoaders.get(shard) ?? createCollectedLoader(loadersOf(shard.name).reads);
        heldLoaders.set(shard, load);
        return load(shard);
      }
      const under = underOf(shard, isFirst);
      // Files that are in the newest version as well are read once.
      const newest = now.get(shard.name);
      const fresh = () => (newest?.state.under === under ? newest.state : emptyFolder(under));
      const folder = folderAfter(heldFolders.get(shard), shard, { under, fresh, isFaultless });
      heldFolders.set(shard, folder);
      return { content: folder.content };
    };
    const read = shards.map((shard, i): ReadSource => {
      const { name, version } = shard;
      if (!isHeld(shard)) return { source: { name, version }, loaded: loadNewest(shard, i === 0) };
      const newest = loadNewest(shard.newest, i === 0);
      const held = loadHeld(shard.held.content, i === 0);
      // Then it is what it was: what is compiled of it is what was compiled then, byte for byte.
      if (isSameRegistry(newest, held)) return { source: { name, version: shard.held.version }, loaded: held };
      const content = withConfigurationOf(newest.content, held.content);
      return { source: { name, version, configuration: shard.held.version }, loaded: { ...newest, content } };
    });
    folders = now;
    const { content, consul, primaryCluster = options.clusterId } = joinShards(read.map(({ loaded }) => loaded));
    const held = JSON.stringify(shards.map((shard) => (isHeld(shard) ? shard.held.version : undefined)));
    const joined = withListsOf(lasts.get(held), content);
    lasts = new Map([[held, joined], ...[...lasts].filter(([key]) => key !== held).slice(0, maxConfigurations - 1)]);
    // A source that came later and holds nothing that counts leaves no trace.
    const sources = read.map(({ source }) => source).filter((one) => one.version !== "" || "configuration" in one);
    return { content: joined, sources, consul, clusterId: primaryCluster };
  };
}

interface ReadSource {
  /** As the root is to say it. */
  readonly source: CompiledSource;
  readonly loaded: LoadedShard;
}

const isSameRegistry = (a: LoadedShard, b: LoadedShard): boolean =>
  a.cluster === b.cluster &&
  (a.consul === b.consul || JSON.stringify(a.consul) === JSON.stringify(b.consul)) &&
  sameRegistry(a.content, b.content);

/** The newest, everybody's, a canary's. */
const maxConfigurations = 3;

/** What is put before the names of a source's files. */
const underOf = ({ name }: ShardContent, isFirst: boolean): string => (isFirst ? "" : `${name}/`);

/** What sources say, with the lists of before where they have the same elements: what was made of such a list is found by it. */
const withListsOf = (before: LoadedDirectory | undefined, now: LoadedDirectory): LoadedDirectory => ({
  ...now,
  configs: sameList(before?.configs, now.configs),
  objects: sameList(before?.objects, now.objects),
  others: sameList(before?.others, now.others),
});

const sameList = <T>(before: readonly T[] | undefined, now: readonly T[]): readonly T[] =>
  before !== undefined && sameElements(before, now) ? before : now;

/** A source of files, as it was read. */
interface LoadedFolder {
  readonly shard: SourceShard;
  readonly state: FolderState;
  readonly content: LoadedDirectory;
}

type IsFaultless = ((file: string) => boolean) | undefined;

interface FolderReading {
  readonly under: string;
  /** What a source is read from that was not read before, or under another name. */
  readonly fresh: () => FolderState;
  readonly isFaultless: IsFaultless;
}

function folderAfter(
  before: LoadedFolder | undefined,
  shard: SourceShard,
  { under, fresh, isFaultless }: FolderReading,
): LoadedFolder {
  const isSame = before?.state.under === under;
  if (isSame && before.shard === shard) return before;
  const state = folderOf(textsOfShard(shard), isSame ? before.state : fresh(), isFaultless);
  return { shard, state, content: wholeFolder(state) };
}

/** Compiles the files of one folder that lies in no store; an object that breaks from call to call keeps its last valid form. */
export type FileCompiler = (files: readonly SourceFile[], sources: readonly CompiledSource[]) => FilesCompiled;

export function createFileCompiler(options: WorldOptions): FileCompiler {
  const compileFolders = createFolderCompiler(options);
  let folder = emptyFolder("");
  return (files, sources) => {
    folder = readAgain(folder, files);
    return compileFolders(wholeFolder(folder), sources);
  };
}

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
    const before = memoUseOf(memo);
    const world = staged("world", () => worldOf(loaded, { ...options, clusterId }, memo, consul));
    const compiled = compile(world.value, sources, memo, staged, slice, reuse);
    const after = memoUseOf(memo);
    return {
      ...withEarlier(compiled, [...loaded.diagnostics, ...world.diagnostics]),
      objects: objectsIn(loaded, consul),
      loaded: { ...loaded, otherHosts: consul.map(consulHost) },
      memo: { hits: after.hits - before.hits, misses: after.misses - before.misses },
    };
  };
}

const memoUseOf = ({ known }: Memo): MemoUse => ({ hits: known?.hits ?? 0, misses: known?.misses ?? 0 });
