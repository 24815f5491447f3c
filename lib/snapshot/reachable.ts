import { textsOf } from "./legacy/compiled-legacy.ts";
import type { Head } from "./root.ts";
import type { SnapshotReader } from "./snapshot-reader.ts";

/** Blobs that a root reaches, itself among them. @throws PortolanError when one that names others is missing */
export async function reachableFrom(reader: SnapshotReader, rootHash: string): Promise<ReadonlySet<string>> {
  const { root } = await reader.root(rootHash);
  const small = [rootHash, root.classes, root.classifier, root.diagnostics, ...root.nodes.map(({ hash }) => hash)];
  const legacy = root.legacy === undefined ? [] : [root.legacy, ...textsOf(await reader.legacy(root.legacy))];
  const trees = await Promise.all(root.trees.map(({ hash }) => reader.tree(hash)));
  const segments = trees.flatMap((tree) =>
    tree.segments.flatMap(({ hash, binary }) => (binary === undefined ? [hash] : [hash, binary.hash])),
  );
  return new Set([...small, ...legacy, ...root.trees.map(({ hash }) => hash), ...segments]);
}

/** Roots that HEAD itself names. */
export function rootsOfHead(head: Head): readonly string[] {
  return [...head.steps.map(({ root }) => root), ...(head.canary === undefined ? [] : [head.canary.root])];
}
