import { blobOfKey, hashOf, type LazyBlob } from "../../base/blob.ts";
import { blobsIn } from "../blob-groups.ts";
import type { CompiledWorld } from "../compiled.ts";
import type { BlobSource } from "../reader/blobs.ts";
import { createSnapshotReader } from "../reader/snapshot-reader.ts";
import type { EncodedWorld, WorldEncoder } from "./encode-world.ts";
import { type RestoredWorld, restoreWorld } from "./restore-world.ts";

/** The worlds of one move of HEAD: those that the store has, by their roots, and those that are made on the way. */
export interface OpenWorlds {
  /** The world of a root. @throws PortolanError when neither the store has it nor it was made here */
  get(root: string): Promise<CompiledWorld>;
  /** The root of a world; one that did not come from `get` is made. */
  rootOf(world: CompiledWorld): string;
  /** What was made, by root. */
  readonly made: ReadonlyMap<string, EncodedWorld>;
  /** What was read, or remembered from an earlier move, by root. */
  readonly stored: ReadonlyMap<string, RestoredWorld>;
  /** Blobs that were asked for, are missing or damaged, and are in no world that was made. */
  readonly lacking: ReadonlySet<string>;
  /** What is to be remembered of a root for the next move; undefined for one that was not opened. */
  restored(root: string): RestoredWorld | undefined;
}

/**
 * @param remembered worlds whose blobs the store is known to have
 * @param compiled a world that the store may not have yet
 */
export function openWorlds(
  store: BlobSource,
  encoder: WorldEncoder,
  remembered: ReadonlyMap<string, RestoredWorld>,
  compiled: CompiledWorld | undefined,
): OpenWorlds {
  const made = new Map<string, EncodedWorld>();
  const stored = new Map<string, RestoredWorld>();
  const worlds = new Map<string, CompiledWorld>();
  const roots = new Map<CompiledWorld, string>();
  const keep = (root: string, world: CompiledWorld) => {
    worlds.set(root, world);
    roots.set(world, root);
  };
  const make = (world: CompiledWorld): EncodedWorld => {
    const encoded = encoder.encode(world);
    made.set(encoded.rootBlob.hash, encoded);
    keep(encoded.rootBlob.hash, world);
    return encoded;
  };
  const lacking = new Set<string>();
  const reader = createSnapshotReader(suppliedBy(store, () => blobsIn([...made.values()]), lacking));
  // What is read shares the objects of this one, so that comparing costs what differs.
  let like = compiled === undefined ? undefined : { world: compiled, encoded: make(compiled) };

  return {
    made,
    stored,
    lacking,
    async get(root) {
      const known = worlds.get(root);
      if (known !== undefined) return known;
      const found = remembered.get(root) ?? (await restoreWorld(reader, root, like));
      like ??= { world: found.world, encoded: encoder.encode(found.world) };
      stored.set(root, found);
      keep(root, found.world);
      return found.world;
    },
    restored(root) {
      const world = worlds.get(root);
      const encoded = made.get(root);
      if (world === undefined || encoded === undefined) return stored.get(root) ?? remembered.get(root);
      return { world, blobs: encoded };
    },
    rootOf: (world) => roots.get(world) ?? make(world).rootBlob.hash,
  };
}

/** A store whose missing and damaged blobs are made where that is possible. */
function suppliedBy(store: BlobSource, blobs: () => ReadonlyMap<string, LazyBlob>, lacking: Set<string>): BlobSource {
  return {
    async get(key, condition) {
      const found = await store.get(key, condition);
      const hash = blobOfKey(key);
      if (hash === undefined || (found.kind === "found" && hashOf(found.bytes) === hash)) return found;
      const blob = blobs().get(hash);
      if (blob === undefined) lacking.add(hash);
      return blob === undefined ? found : { kind: "found", bytes: blob.make(), etag: "" };
    },
  };
}
