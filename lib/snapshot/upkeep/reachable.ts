import { blobsOfIndex } from "../legacy/read-document.ts";
import { blobsOfNodes } from "../nodes/node-index.ts";
import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import { resourceTypes } from "../resource-type.ts";
import type { Lookups } from "../root.ts";

/** Blobs that a root reaches, itself among them. @throws PortolanError when one that names others is missing */
export async function reachableFrom(reader: SnapshotReader, rootHash: string): Promise<ReadonlySet<string>> {
  const { root } = await reader.root(rootHash);
  const small = [rootHash, root.classes, root.classifier, root.diagnostics, ...blobsOfNodes(root)];
  const optional = [root.statuses, root.lookups, root.trustBundles, root.standing].filter((hash) => hash !== undefined);
  const legacy = root.legacy === undefined ? [] : [root.legacy, ...(await blobsOfLegacy(reader, root.legacy))];
  const modules = root.lookups === undefined ? [] : heldModules(await reader.text(root.lookups));
  const ofTypes = await Promise.all(resourceTypes.map((type) => reader.blobsOfType(root, type)));
  return new Set([...small, ...optional, ...legacy, ...modules, ...ofTypes.flatMap((blobs) => [...blobs])]);
}

const blobsOfLegacy = async (reader: SnapshotReader, hash: string): Promise<ReadonlySet<string>> =>
  blobsOfIndex(await reader.legacy(hash), reader);

/** Modules of Wasm that a root's `Lookups` name. */
function heldModules(text: string): readonly string[] {
  // Blobs of ours, written as such.
  const lookups: Lookups = JSON.parse(text);
  return lookups.heldModules ?? [];
}
