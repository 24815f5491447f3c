import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";
import { UnreadableSource } from "./unreadable-source.ts";

/**
 * What writers put below `sources/<name>/`: the list of `push` and `apply`, the head and the state of a collector, what these name by its
 * hash, and the ledger of `apply`. Nothing reads anything else, and no key of these is a folder of another.
 */
const part =
  /^(?:list|head|state|(?:files|nodes|versions)\/[0-9a-f]{64}|ledger\/(?:head|(?:nodes|blobs|commits)\/[0-9a-f]{64}))$/;

/** @param key from the folder of the source on: `list`, `files/<hash>` */
export const isSourcePart = (key: string): boolean => part.test(key);

/** The same for people. */
export const sourceParts = "list, head, state, files/<hash>, nodes/<hash>, versions/<hash>, or a part of ledger/";

/**
 * A source without a list and a head was never filled, or was taken away, unless something else has their place.
 *
 * @throws UnreadableSource
 */
export async function refuseDisplaced(store: ObjectStore, name: string): Promise<void> {
  const folders = await store.folders(`sources/${encodeKeyPart(name)}/`);
  const displaced = folders.find((folder) => folder === "list" || folder === "head");
  if (displaced !== undefined)
    throw new UnreadableSource(`source ${name} has a folder where its file ${displaced} belongs; delete that folder`);
}
