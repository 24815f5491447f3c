import type { LoadedDirectory } from "../config/folder/directory.ts";
import type { ReadAhead } from "../config/folder/files/read-ahead.ts";
import type { FolderState } from "../config/folder/folder-state.ts";
import { emptyFolder, folderOf } from "../config/folder/last-valid.ts";
import { sameRegistry, withConfigurationOf } from "../config/folder/planes.ts";
import { wholeFolder } from "../config/folder/whole-folder.ts";
import { resolvedSource } from "../config/kinds/resolved-facts.ts";
import { sameElements } from "../incremental/same-elements.ts";
import type { CompiledSource } from "../snapshot/compiled.ts";
import { boundedReading } from "./bounded-diagnostics.ts";
import type { CollectedShard } from "./collected/collected-shard.ts";
import { joinShards } from "./collected/join-shards.ts";
import {
  type CollectedLoader,
  type CollectedReads,
  createCollectedLoader,
  type LoadedShard,
} from "./collected/load-collected.ts";
import { primaryOf } from "./shards/primary-source.ts";
import { isCollected, isHeld, type Shard, type ShardContent } from "./shards/shard.ts";
import { filePrefixOf } from "./shards/source-names.ts";
import { type SourceShard, textsOfShard } from "./shards/source-shard.ts";
import type { WorldOptions } from "./world/world-of.ts";

/** What shards say together; files and objects that read as before keep their identity. */
export function createShardsReader(options: WorldOptions, ahead?: ReadAhead) {
  let folders: ReadonlyMap<string, LoadedFolder> = new Map();
  /** By the configuration that is held, the newest under "": the lists of two are compared with their own. */
  let lasts: ReadonlyMap<string, LoadedDirectory> = new Map();
  const heldFolders = new WeakMap<ShardContent, LoadedFolder>();
  const heldLoaders = new WeakMap<ShardContent, CollectedLoader>();
  let loaders: ReadonlyMap<string, NewestLoader> = new Map();
  return (shards: readonly Shard[], skipRules?: IsFaultless) => {
    const now = new Map<string, LoadedFolder>();
    // Only those of sources that are still there: a loader holds all objects of its source.
    const loadersNow = new Map<string, NewestLoader>();
    const loaderOf = (name: string): NewestLoader => {
      const loader = loadersNow.get(name) ?? loaders.get(name) ?? newestLoader();
      loadersNow.set(name, loader);
      return loader;
    };
    const readNewest = (shard: SourceShard, isFirst: boolean): LoadedFolder => {
      const under = filePrefixOf(shard.name, isFirst);
      const fresh = () => (isFirst ? ahead?.take() : undefined) ?? emptyFolder(under);
      const folder = folderAfter(folders.get(shard.name), shard, { under, fresh, skipRules });
      now.set(shard.name, folder);
      return folder;
    };
    const readHeld = (shard: SourceShard, isFirst: boolean): LoadedFolder => {
      const under = filePrefixOf(shard.name, isFirst);
      // Files that are in the newest version as well are read once.
      const newest = now.get(shard.name);
      const fresh = () => (newest?.state.under === under ? newest.state : emptyFolder(under));
      const folder = folderAfter(heldFolders.get(shard), shard, { under, fresh, skipRules });
      heldFolders.set(shard, folder);
      return folder;
    };
    const heldLoader = (shard: CollectedShard): CollectedLoader => {
      const load = heldLoaders.get(shard) ?? createCollectedLoader(loaderOf(shard.name).reads);
      heldLoaders.set(shard, load);
      return load;
    };
    // Folders first: no collected source has settings of its own.
    const opened = shards.map((shard, i): OpenedSource => {
      const [newest, held] = isHeld(shard) ? [shard.newest, shard.held.content] : [shard, undefined];
      return {
        shard,
        newest: isCollected(newest) ? newest : readNewest(newest, i === 0),
        held: held === undefined || isCollected(held) ? held : readHeld(held, i === 0),
      };
    });
    const inlineSymmetricKeys = symmetricKeysIn(opened, options.sources);
    const read = opened.map(({ shard, newest: ofNewest, held: ofHeld }): ReadSource => {
      const { name, version } = shard;
      const newest: LoadedShard =
        "content" in ofNewest ? { content: ofNewest.content } : loaderOf(name).load(ofNewest, { inlineSymmetricKeys });
      if (!isHeld(shard) || ofHeld === undefined) return { source: { name, version }, loaded: newest };
      const held: LoadedShard =
        "content" in ofHeld ? { content: ofHeld.content } : heldLoader(ofHeld)(ofHeld, { inlineSymmetricKeys });
      // Then it is what it was: what is compiled of it is what was compiled then, byte for byte.
      if (isSameRegistry(newest, held)) return { source: { name, version: shard.held.version }, loaded: held };
      const content = withConfigurationOf(newest.content, held.content);
      return { source: { name, version, configuration: shard.held.version }, loaded: { ...newest, content } };
    });
    folders = now;
    loaders = loadersNow;
    const {
      content,
      consul,
      primaryCluster = options.clusterId,
    } = joinShards(
      read.map(({ source: { name }, loaded }) => ({ name, loaded })),
      options.sources ?? [],
    );
    const held = JSON.stringify(shards.map((shard) => (isHeld(shard) ? shard.held.version : undefined)));
    const joined = withListsOf(lasts.get(held), content);
    lasts = new Map([[held, joined], ...[...lasts].filter(([key]) => key !== held).slice(0, maxConfigurations - 1)]);
    // A source that came later and holds nothing that counts leaves no trace.
    const sources = read.map(({ source }) => source).filter((one) => one.version !== "" || "configuration" in one);
    return { content: joined, sources, consul, clusterId: primaryCluster };
  };
}

/** What is read of a collected source's newest version, and shared with other versions of it. */
interface NewestLoader {
  readonly reads: CollectedReads;
  readonly load: CollectedLoader;
}

function newestLoader(): NewestLoader {
  const reads: CollectedReads = new WeakMap();
  return { reads, load: createCollectedLoader(reads) };
}

/** A source whose files are read, and whose collected objects are not yet. */
interface OpenedSource {
  readonly shard: Shard;
  readonly newest: LoadedFolder | CollectedShard;
  /** Whose configuration counts, where that is another version's. */
  readonly held: LoadedFolder | CollectedShard | undefined;
}

/** What the primary source says of symmetric keys, as its configuration has it that counts. */
function symmetricKeysIn(opened: readonly OpenedSource[], named: WorldOptions["sources"]): "allow" | "refuse" {
  const names = opened.map(({ shard }) => shard.name);
  const primary = opened.find(({ shard }) => shard.name === primaryOf(names, named));
  const counting = primary?.held ?? primary?.newest;
  const said =
    counting !== undefined && "content" in counting ? counting.content.settings.inlineSymmetricKeys : undefined;
  return said ?? "refuse";
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

/** What sources say, with the lists of before where they have the same elements: what was made of such a list is found by it. */
const withListsOf = (before: LoadedDirectory | undefined, now: LoadedDirectory): LoadedDirectory => ({
  ...now,
  configs: keepList(before?.configs, now.configs),
  objects: keepList(before?.objects, now.objects),
  others: keepList(before?.others, now.others),
});

const keepList = <T>(before: readonly T[] | undefined, now: readonly T[]): readonly T[] =>
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
  readonly skipRules: IsFaultless;
}

function folderAfter(
  before: LoadedFolder | undefined,
  shard: SourceShard,
  { under, fresh, skipRules }: FolderReading,
): LoadedFolder {
  const isSame = before?.state.under === under;
  if (isSame && before.shard === shard) return before;
  const state = folderOf(textsOfShard(shard), isSame ? before.state : fresh(), skipRules);
  return { shard, state, content: factsOfResolver(shard.name, boundedReading(shard.name, wholeFolder(state))) };
}

/** What was looked up counts from the resolver's own source alone: any other one could exchange the keys of any issuer. */
function factsOfResolver(name: string, content: LoadedDirectory): LoadedDirectory {
  const { resolved, ...settings } = content.settings;
  return resolved === undefined || name === resolvedSource ? content : { ...content, settings };
}
