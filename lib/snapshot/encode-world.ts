import { type Blob, jsonBlob } from "./blob.ts";
import type { CompiledWorld } from "./compiled.ts";
import type { EncodedTree, TreeEncoder } from "./encode-tree.ts";
import { encodeNodeIndex } from "./node-index.ts";
import type { resourceTypes, ShapeName } from "./resource-type.ts";
import type { ClassTable, Root, Shape } from "./root.ts";
import { encodeSegment } from "./segment.ts";

/** A root and all blobs that it reaches; the big ones are made when they are asked for. */
export interface EncodedWorld {
  readonly root: Root;
  readonly rootBlob: Blob;
  readonly trees: readonly EncodedTree[];
  /** Every blob but the root's own, each once. */
  blobs(): Iterable<{ readonly hash: string; make(): Uint8Array<ArrayBuffer> }>;
}

/** Puts a compiled world into its stored form. Equal worlds give equal bytes. */
export function encodeWorld(world: CompiledWorld, encodeTree: TreeEncoder): EncodedWorld {
  const trees = new Map<string, { readonly index: number; readonly tree: EncodedTree }>();
  const indexOf = (tree: EncodedTree): number => {
    const known = trees.get(tree.ref.hash);
    if (known !== undefined) return known.index;
    trees.set(tree.ref.hash, { index: trees.size, tree });
    return trees.size - 1;
  };
  const shapeOf = (compiled: CompiledWorld["classes"][number], shape: ShapeName): Shape => {
    const index = (type: (typeof resourceTypes)[number]) => indexOf(encodeTree(compiled[shape][type]));
    return {
      clusters: index("clusters"),
      endpoints: index("endpoints"),
      listeners: index("listeners"),
      routes: index("routes"),
    };
  };

  const table: ClassTable = {
    classes: world.classes.map((compiled) => ({
      id: compiled.id,
      stream: shapeOf(compiled, "stream"),
      poll: shapeOf(compiled, "poll"),
    })),
  };
  const classes = jsonBlob(table);
  const classifier = jsonBlob(world.classifier);
  const nodes = encodeNodeIndex(world.nodes);
  const diagnostics = jsonBlob(world.diagnostics);
  const legacy = world.legacy === undefined ? undefined : jsonBlob(world.legacy.index);
  const encodedTrees = [...trees.values()].map(({ tree }) => tree);
  const root: Root = {
    compiler: world.compiler,
    sources: world.sources.map(({ name, version }) => ({ name, version })),
    trees: encodedTrees.map(({ ref }) => ref),
    classes: classes.hash,
    classifier: classifier.hash,
    nodes: nodes.refs,
    diagnostics: diagnostics.hash,
    ...(legacy === undefined ? {} : { legacy: legacy.hash }),
  };

  return {
    root,
    rootBlob: jsonBlob(root),
    trees: encodedTrees,
    *blobs() {
      const seen = new Set<string>();
      const small = [classes, classifier, diagnostics, ...nodes.blobs, ...encodedTrees.map((tree) => tree.blob)];
      if (legacy !== undefined) small.push(legacy);
      for (const [hash, text] of Object.entries(world.legacy?.texts ?? {})) {
        if (!seen.has(hash)) yield { hash, make: () => new TextEncoder().encode(text) };
        seen.add(hash);
      }
      for (const { hash, bytes } of small) {
        if (!seen.has(hash)) yield { hash, make: () => bytes };
        seen.add(hash);
      }
      for (const { ref, resources } of encodedTrees.flatMap((tree) => tree.segments)) {
        const hashes = ref.binary === undefined ? [ref.hash] : [ref.hash, ref.binary.hash];
        for (const [i, hash] of hashes.entries()) {
          if (!seen.has(hash)) yield { hash, make: () => encodeSegment(resources).blobs[i]?.bytes ?? new Uint8Array() };
          seen.add(hash);
        }
      }
    },
  };
}
