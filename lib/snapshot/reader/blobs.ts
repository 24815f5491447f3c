import { blobKey, hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** All that a reader needs of a store. */
export type BlobSource = Pick<ObjectStore, "get">;

/** Reads blobs and compares each with the hash that is its name. Nothing is kept. */
export interface Blobs {
  /** @throws PortolanError when it is not there, or is damaged */
  bytes(hash: string): Promise<Uint8Array<ArrayBuffer>>;
  /** @throws PortolanError when it is not there, or is damaged */
  text(hash: string): Promise<string>;
  /** The same, undefined when the store has no such blob, or another under its name. */
  textIfWhole(hash: string): Promise<string | undefined>;
}

/** @param onMissed is called with the hash of each blob that `bytes` and `text` do not find, or find damaged */
export function blobsOf(store: BlobSource, onMissed: (hash: string) => void): Blobs {
  async function read(hash: string): Promise<Uint8Array<ArrayBuffer> | "absent" | "damaged"> {
    const result = await store.get(blobKey(hash));
    if (result.kind !== "found") return "absent";
    return hashOf(result.bytes) === hash ? result.bytes : "damaged";
  }
  async function bytes(hash: string): Promise<Uint8Array<ArrayBuffer>> {
    const found = await read(hash);
    if (typeof found === "string") onMissed(hash);
    if (found === "absent") throw new PortolanError(`the store has no blob ${hash}`);
    if (found === "damaged") throw new PortolanError(`blob ${hash} holds other bytes than its name means`);
    return found;
  }
  return {
    bytes,
    text: async (hash) => new TextDecoder().decode(await bytes(hash)),
    async textIfWhole(hash) {
      const found = await read(hash);
      return typeof found === "string" ? undefined : new TextDecoder().decode(found);
    },
  };
}
