import { inParallel } from "../storage/in-parallel.ts";
import type { ListedObject, ObjectStore } from "../storage/object-store.ts";

/** Blobs lie under the digits that their hashes begin with. */
const stretches = Array.from("0123456789abcdef", (digit) => `blobs/${digit}`);

/**
 * Every blob of a store, in no order. A store behind a wire lists a thousand at a time, so stretches of them are listed together.
 *
 * @param take is shown each; false ends the list
 */
export async function listBlobs(store: ObjectStore, take: (blob: ListedObject) => unknown): Promise<void> {
  let isOver = false;
  await inParallel(stretches, async (prefix) => {
    for await (const blob of store.list(prefix)) {
      if (isOver) return;
      if (take(blob) === false) isOver = true;
    }
  });
}
