import type { CompiledLegacy } from "../../legacy/compiled-legacy.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { NamedGroup } from "../blob-groups.ts";
import type { CompiledList, CompiledPart, CompiledShape, CompiledWorld } from "../compiled.ts";
import { blobsOfIndex } from "../legacy/read-document.ts";
import { runsIn } from "../long/long-resource.ts";
import { blobsOfNodes, nodesIn } from "../nodes/node-index.ts";
import type { LoadedPart, LoadedRoot } from "../reader/loaded.ts";
import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import { type ExtraType, extraTypes, type ResourceType } from "../resource-type.ts";
import { madeOf, readRecord } from "../reuse/reuse-record.ts";
import type { NodeShard, SegmentRef, Shape } from "../root.ts";
import { decodeSegment } from "../segment.ts";
import type { EncodedRun } from "./encode-tree.ts";
import type { EncodedWorld } from "./encode-world.ts";
import { createLongLoader } from "./restore-long.ts";

/** A stored world as the compiler once handed it in, and its blobs. */
export interface RestoredWorld {
  readonly world: CompiledWorld;
  /** All that its root reaches, and the root's own. */
  readonly blobs: NamedGroup;
}

/**
 * Reads a stored world. What it shares with `like` is taken from there, objects and all, so that only what differs is read.
 *
 * @param loadList one that worlds share which are read together
 * @throws PortolanError when a blob is missing
 */
export async function restoreWorld(
  reader: SnapshotReader,
  rootHash: string,
  like?: { readonly world: CompiledWorld; readonly encoded: EncodedWorld },
  loadList: ListLoader = createListLoader(reader, like?.encoded),
): Promise<RestoredWorld> {
  const loaded = await reader.root(rootHash);
  const { root } = loaded;
  const blobs = new Set<string>([rootHash, root.classes, root.classifier, root.diagnostics, ...blobsOfNodes(root)]);

  async function listsOf(type: ResourceType): Promise<ListOf> {
    const { parts, trees, blobs: named } = await reader.table(root, type);
    for (const hash of named) blobs.add(hash);
    const indexes = new Set([...loaded.classes.values()].flatMap(({ stream, poll }) => [stream[type], poll[type]]));
    const byIndex = new Map<number | undefined, CompiledList>();
    // Most lists are at hand, and a promise for each of thousands costs more than they do.
    const coming: Promise<unknown>[] = [];
    for (const index of indexes) {
      const tree = index === undefined ? undefined : trees[index];
      const list = loadList((tree ?? []).flatMap((place) => parts[place] ?? []));
      if (list instanceof Promise) coming.push(list.then((come) => byIndex.set(index, come)));
      else byIndex.set(index, list);
    }
    await Promise.all(coming);
    return (shape) => byIndex.get(shape[type]) ?? [];
  }
  const extrasThere = extraTypes.filter((type) => root.tables[type] !== undefined);
  // Nothing of it depends on anything else of it: behind a wire that is one wait for all.
  const [
    legacy,
    record,
    clusters,
    endpoints,
    listeners,
    routes,
    extraLists,
    nodes,
    diagnostics,
    statuses,
    lookups,
    bundles,
  ] = await Promise.all([
    root.legacy === undefined ? undefined : restoreLegacy(reader, root.legacy),
    // Without it nothing is lost but work.
    root.standing === undefined ? undefined : reader.textIfWhole(root.standing).then(readRecord),
    listsOf("clusters"),
    listsOf("endpoints"),
    listsOf("listeners"),
    listsOf("routes"),
    Promise.all(extrasThere.map(async (type) => [type, await listsOf(type)] as const)),
    restoreNodes(reader, loaded, like),
    reader.text(root.diagnostics),
    root.statuses === undefined ? undefined : reader.text(root.statuses),
    root.lookups === undefined ? undefined : reader.text(root.lookups),
    root.trustBundles === undefined ? undefined : reader.text(root.trustBundles),
  ]);
  const extras = new Map<ExtraType, ListOf>(extraLists);
  if (root.legacy !== undefined) blobs.add(root.legacy);
  if (root.statuses !== undefined) blobs.add(root.statuses);
  if (root.lookups !== undefined) blobs.add(root.lookups);
  if (root.trustBundles !== undefined) blobs.add(root.trustBundles);
  if (root.standing !== undefined) blobs.add(root.standing);
  for (const hash of Object.keys(legacy?.texts ?? {})) blobs.add(hash);
  const shapeOf = (shape: Shape): CompiledShape => ({
    clusters: clusters(shape),
    endpoints: endpoints(shape),
    listeners: listeners(shape),
    routes: routes(shape),
    ...Object.fromEntries([...extras].map(([type, lists]) => [type, lists(shape)])),
  });
  const world: CompiledWorld = {
    classes: [...loaded.classes.values()].map(({ id, stream, poll }) => ({
      id,
      stream: shapeOf(stream),
      poll: shapeOf(poll),
    })),
    classifier: loaded.classifier,
    nodes,
    diagnostics: JSON.parse(diagnostics),
    ...(statuses === undefined ? {} : { statuses: JSON.parse(statuses) }),
    ...(root.secretGrants === undefined ? {} : { secretGrants: root.secretGrants }),
    ...(lookups === undefined ? {} : { lookups: JSON.parse(lookups) }),
    ...(bundles === undefined ? {} : { trustBundles: JSON.parse(bundles) }),
    ...(legacy === undefined ? {} : { legacy }),
    sources: root.sources,
    compiler: root.compiler,
    ...(root.configuration === undefined ? {} : { configuration: root.configuration }),
    ...(root.release === undefined ? {} : { release: root.release }),
    ...(record === undefined ? {} : { made: madeOf(record) }),
  };
  return { world, blobs: { blobs: Array.from(blobs, (hash) => ({ hash })), groups: [] } };
}

/** Loads lists by their parts; each part and segment is read once, so that lists share them and their resources as objects. */
export type ListLoader = (parts: readonly LoadedPart[]) => CompiledList | Promise<CompiledList>;

/**
 * @param like is taken from what it has
 * @param unread gives the parts that are not to be read; absent: all are
 */
export function createListLoader(
  reader: SnapshotReader,
  like: EncodedWorld | undefined,
  unread: (part: LoadedPart) => CompiledPart | undefined = () => undefined,
): ListLoader {
  const runs = runsByFirstPart(like);
  const segments = new Map<string, CompiledPart | Promise<CompiledPart>>();
  for (const run of [...runs.values()].flat()) {
    for (const { ref, resources } of run.parts.flatMap((part) => part.segments)) segments.set(ref.hash, resources);
  }
  const resources = [...segments.values()].flatMap((part) => (part instanceof Promise ? [] : part));
  const loadLong = createLongLoader(reader, resources.flatMap(runsIn));
  const readPart = async ({ long, ...ref }: SegmentRef): Promise<CompiledPart> =>
    long === undefined ? readSegment(reader, ref) : [await loadLong({ ...ref, long })];
  const loadSegment = (ref: SegmentRef): CompiledPart | Promise<CompiledPart> => {
    const known = segments.get(ref.hash) ?? readPart(ref);
    segments.set(ref.hash, known);
    return known;
  };
  const loaded = new Map<string, CompiledPart | Promise<CompiledPart>>();
  const load = (part: LoadedPart): CompiledPart | Promise<CompiledPart> => {
    const known =
      loaded.get(part.key) ?? unread(part) ?? Promise.all(part.segments.map(loadSegment)).then((lists) => lists.flat());
    loaded.set(part.key, known);
    return known;
  };
  const lists = new Map<string, CompiledList | Promise<CompiledList>>();
  /** Stand for the keys of parts, which are long: lists of them are what lists are known by. */
  const numbers = new Map<string, number>();
  const numberOf = ({ key }: LoadedPart): number => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const loadList = (parts: readonly LoadedPart[]): CompiledList | Promise<CompiledList> => {
    const list: (CompiledPart | Promise<CompiledPart>)[] = [];
    for (let at = 0; at < parts.length; ) {
      const part = parts[at];
      const known = runs
        .get(part?.key ?? "")
        ?.find((run) => run.parts.every(({ key }, i) => key === parts[at + i]?.key));
      if (known !== undefined) list.push(known.resources);
      else if (part !== undefined) list.push(load(part));
      at += known?.parts.length ?? 1;
    }
    return list.every(isThere) ? list : Promise.all(list);
  };
  return (parts) => {
    const key = parts.map(numberOf).join();
    const list = lists.get(key) ?? loadList(parts);
    lists.set(key, list);
    return list;
  };
}

const isThere = (part: CompiledPart | Promise<CompiledPart>): part is CompiledPart => !(part instanceof Promise);

/** What is known already, the longest runs first. */
function runsByFirstPart(like: EncodedWorld | undefined): ReadonlyMap<string, readonly EncodedRun[]> {
  const runs = Object.values(like?.tables ?? {}).flatMap((table) => table.runs);
  return Map.groupBy(
    runs.sort((a, b) => b.parts.length - a.parts.length),
    ({ parts }) => parts[0]?.key ?? "",
  );
}

async function restoreLegacy(reader: SnapshotReader, hash: string): Promise<CompiledLegacy> {
  const index = await reader.legacy(hash);
  const names = [...(await blobsOfIndex(index, reader))];
  const texts = await inParallel(names, async (name) => [name, await reader.text(name)] as const);
  return { index, texts: Object.fromEntries(texts) };
}

async function readSegment(reader: SnapshotReader, ref: SegmentRef): Promise<CompiledPart> {
  const binary = await reader.binaries(ref);
  return decodeSegment(ref, (await reader.segment(ref)).bytes, binary?.bytes);
}

type ListOf = (shape: Shape) => CompiledList;

/** The node index as nodes with one key each, which encode to the same shards. */
async function restoreNodes(
  reader: SnapshotReader,
  { root }: LoadedRoot,
  like: { readonly world: CompiledWorld; readonly encoded: EncodedWorld } | undefined,
): Promise<CompiledWorld["nodes"]> {
  if (like !== undefined && JSON.stringify(root.nodes) === JSON.stringify(like.encoded.root.nodes))
    return like.world.nodes;
  const shards = await Promise.all(root.nodes.map(({ hash }) => reader.text(hash)));
  return shards.flatMap((text) => {
    const shard: NodeShard = JSON.parse(text);
    return nodesIn(shard);
  });
}
