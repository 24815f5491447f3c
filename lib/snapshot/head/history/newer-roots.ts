import { blobKey } from "../../../base/blob.ts";
import type { ObjectStore } from "../../../storage/object-store.ts";
import { NewerFormat, readRoot } from "../../format.ts";
import { type ReadHead, rootsTriedOrServed } from "../head.ts";

/**
 * For whoever is about to fill a source: nothing that is compiled of it could be published.
 *
 * @throws NewerFormat where nodes are led to a root that a newer version has written, or it is tried out
 */
export async function refuseNewerRoots(store: ObjectStore, read: ReadHead | undefined): Promise<void> {
  for (const hash of read === undefined ? [] : rootsTriedOrServed(read.head)) {
    const found = await store.get(blobKey(hash));
    if (found.kind !== "found") continue;
    try {
      readRoot(hash, new TextDecoder().decode(found.bytes));
    } catch (cause) {
      // What is damaged is mended by the next publish.
      if (cause instanceof NewerFormat) throw cause;
    }
  }
}
