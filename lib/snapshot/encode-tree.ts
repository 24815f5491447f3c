import { type Blob, hashOf, jsonBlob } from "./blob.ts";
import type { CompiledResource } from "./compiled.ts";
import type { TreeRef, TypeTree } from "./root.ts";
import { cutSegments, encodeSegment, type Segment } from "./segment.ts";

/** One type's answer for one class, as it is stored. */
export interface EncodedTree {
  readonly ref: TreeRef;
  readonly blob: Blob;
  readonly segments: readonly Segment[];
  readonly resources: readonly CompiledResource[];
}

/** Encodes resource lists; the same list, or a run of the same resources, is encoded once. */
export type TreeEncoder = (resources: readonly CompiledResource[]) => EncodedTree;

/** Remembers by identity for as long as the lists and resources live; forgetting never changes a result. */
export function createTreeEncoder(): TreeEncoder {
  const trees = new WeakMap<readonly CompiledResource[], EncodedTree>();
  const segments = new WeakMap<CompiledResource, Segment[]>();

  function segmentOf(run: readonly CompiledResource[]): Segment {
    const [first] = run;
    const known = first === undefined ? undefined : segments.get(first);
    const same = known?.find(({ resources }) => sameElements(resources, run));
    if (same !== undefined) return same;
    const segment = { ref: encodeSegment(run).ref, resources: run };
    // Two are enough: a run before and after a change.
    if (first !== undefined) segments.set(first, [segment, ...(known ?? []).slice(0, 1)]);
    return segment;
  }

  return (resources) => {
    const known = trees.get(resources);
    if (known !== undefined) return known;
    const encoded = encodeTree(resources, cutSegments(resources).map(segmentOf));
    trees.set(resources, encoded);
    return encoded;
  };
}

function encodeTree(resources: readonly CompiledResource[], segments: readonly Segment[]): EncodedTree {
  const tree: TypeTree = { segments: segments.map(({ ref }) => ref) };
  const blob = jsonBlob(tree);
  const version = hashOf(resources.map(({ name, version }) => `${version} ${name}\n`).join(""));
  return { ref: { hash: blob.hash, version }, blob, segments, resources };
}

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}
