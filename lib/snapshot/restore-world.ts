import type { CompiledClass, CompiledResource, CompiledWorld } from "./compiled.ts";
import type { EncodedTree } from "./encode-tree.ts";
import type { EncodedWorld } from "./encode-world.ts";
import { type CompiledLegacy, textsOf } from "./legacy/compiled-legacy.ts";
import type { ProxyClass, SegmentRef, Shape } from "./root.ts";
import { decodeSegment } from "./segment.ts";
import type { LoadedRoot, SnapshotReader } from "./snapshot-reader.ts";

/** A stored world as the compiler once handed it in, and the names of all blobs that its root reaches. */
export interface RestoredWorld {
  readonly world: CompiledWorld;
  readonly blobs: ReadonlySet<string>;
}

/**
 * Reads a stored world. What it shares with `like` is taken from there, objects and all, so that only what differs is read.
 *
 * @throws PortolanError when a blob is missing
 */
export async function restoreWorld(
  reader: SnapshotReader,
  rootHash: string,
  like?: { readonly world: CompiledWorld; readonly encoded: EncodedWorld },
): Promise<RestoredWorld> {
  const loaded = await reader.root(rootHash);
  const { root } = loaded;
  const knownTrees = new Map(like?.encoded.trees.map((tree) => [tree.ref.hash, tree] as const));
  const knownSegments = new Map(
    like?.encoded.trees.flatMap(({ segments }) => segments.map(({ ref, resources }) => [ref.hash, resources] as const)),
  );
  const blobs = new Set<string>([
    root.classes,
    root.classifier,
    root.diagnostics,
    ...root.nodes.map(({ hash }) => hash),
  ]);

  async function resourcesOf(ref: SegmentRef): Promise<readonly CompiledResource[]> {
    const known = knownSegments.get(ref.hash);
    if (known !== undefined) return known;
    const binary = ref.binary === undefined ? undefined : (await reader.binarySegment(ref.binary)).bytes;
    return decodeSegment(ref, (await reader.segment(ref)).bytes, binary);
  }

  async function listOf(hash: string): Promise<readonly CompiledResource[]> {
    blobs.add(hash);
    const known: EncodedTree | undefined = knownTrees.get(hash);
    const refs = known?.segments.map(({ ref }) => ref) ?? (await reader.tree(hash)).segments;
    for (const { hash, binary } of refs) {
      blobs.add(hash);
      if (binary !== undefined) blobs.add(binary.hash);
    }
    return known?.resources ?? (await Promise.all(refs.map(resourcesOf))).flat();
  }

  const legacy = root.legacy === undefined ? undefined : await restoreLegacy(reader, root.legacy);
  if (root.legacy !== undefined) blobs.add(root.legacy);
  for (const hash of Object.keys(legacy?.texts ?? {})) blobs.add(hash);
  const lists = await Promise.all(root.trees.map(({ hash }) => listOf(hash)));
  const world: CompiledWorld = {
    classes: [...loaded.classes.values()].map((proxyClass) => restoreClass(proxyClass, lists)),
    classifier: loaded.classifier,
    nodes: await restoreNodes(reader, loaded, like),
    diagnostics: JSON.parse(await reader.text(root.diagnostics)),
    ...(legacy === undefined ? {} : { legacy }),
    sources: root.sources,
    compiler: root.compiler,
  };
  return { world, blobs };
}

async function restoreLegacy(reader: SnapshotReader, hash: string): Promise<CompiledLegacy> {
  const index = await reader.legacy(hash);
  const texts = await Promise.all(
    [...textsOf(index)].map(async (name) => [name, await reader.legacyText(name)] as const),
  );
  return { index, texts: Object.fromEntries(texts) };
}

function restoreClass(proxyClass: ProxyClass, lists: readonly (readonly CompiledResource[])[]): CompiledClass {
  const shapeOf = (shape: Shape) => ({
    clusters: lists[shape.clusters] ?? [],
    endpoints: lists[shape.endpoints] ?? [],
    listeners: lists[shape.listeners] ?? [],
    routes: lists[shape.routes] ?? [],
  });
  return { id: proxyClass.id, stream: shapeOf(proxyClass.stream), poll: shapeOf(proxyClass.poll) };
}

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
    const { classes }: { readonly classes: Readonly<Record<string, string>> } = JSON.parse(text);
    return Object.entries(classes).map(([key, classId]) => ({ keys: [key], classId }));
  });
}
