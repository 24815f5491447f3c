import { concatBytes } from "../../base/blob.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { CompiledResource } from "../../snapshot/compiled.ts";
import type { LoadedTree } from "../../snapshot/reader/loaded.ts";
import type { SegmentRef } from "../../snapshot/root.ts";
import type { ResourceSpan } from "../../snapshot/segment.ts";
import { createTreeEncoder, versionOfTree } from "../../snapshot/worlds/encode-tree.ts";
import type { TreeReader } from "../../streams/tree-reader.ts";
import type { LocalResources } from "./offer.ts";

/** Trees of resources in memory, and how they are read. */
export interface LocalTrees {
  readonly reader: TreeReader;
  /** The same resources, the same tree. */
  treeOf(resources: LocalResources): LoadedTree;
}

interface SegmentContent {
  readonly resources: readonly CompiledResource[];
  readonly spans: ReadonlyMap<string, ResourceSpan>;
}

/**
 * Resources in the form that streams are answered from: segments of some 16 KiB, those of unchanged resources the same as before. So what
 * tells two offers apart is found by what differs, as a server finds it between two snapshots.
 */
export function createLocalTrees(): LocalTrees {
  const encodeTree = createTreeEncoder();
  const trees = new WeakMap<LocalResources, LoadedTree>();
  const contents = new WeakMap<SegmentRef, SegmentContent>();

  function contentOf(ref: SegmentRef): SegmentContent {
    const found = contents.get(ref);
    if (found === undefined) throw new Error(`segment ${ref.hash} is of no tree of this agent`);
    return found;
  }

  return {
    reader: {
      entries: async (ref) => contentOf(ref).spans,
      async binaries(ref) {
        const { resources, spans } = contentOf(ref);
        return { bytes: concatBytes(resources.flatMap(({ binary }) => binary ?? [])), spans };
      },
    },
    treeOf(resources) {
      const found = trees.get(resources);
      if (found !== undefined) return found;
      const sorted = [...resources.values()].sort((a, b) => byCodePoint(a.name, b.name));
      const encoded = encodeTree(sorted.length === 0 ? [] : [sorted]);
      const segments = encoded.runs
        .flatMap(({ parts }) => parts)
        .flatMap((part) => part.segments)
        .map(({ ref, resources: of }) => {
          // The segment of unchanged resources is the same as before.
          if (!contents.has(ref)) contents.set(ref, { resources: of, spans: spansOf(of) });
          return ref;
        });
      const tree = {
        version: versionOfTree(encoded),
        segments,
        parts: segments.map((segment) => ({ segment })),
      };
      trees.set(resources, tree);
      return tree;
    },
  };
}

/** Where the binary forms of a segment's resources lie, by their names, when they stand one behind the other. */
function spansOf(resources: readonly CompiledResource[]): SegmentContent["spans"] {
  let offset = 0;
  return new Map(
    resources.map(({ name, version, from, binary }) => {
      const bytes = binary?.length ?? 0;
      const span = { name, version, from, bytes, offset };
      offset += bytes;
      return [name, span];
    }),
  );
}
