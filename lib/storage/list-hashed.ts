import { inParallel } from "./in-parallel.ts";
import type { ListedObject, ObjectStore } from "./object-store.ts";

const digits = Array.from("0123456789abcdef");

/**
 * Every object of a folder whose keys go on with a hash, in no order. A store behind a wire lists a thousand at a time, one page after the
 * other, so stretches of the folder are listed together.
 *
 * @param take is shown each; false ends the list
 */
export async function listHashed(
  store: ObjectStore,
  folder: string,
  take: (object: ListedObject) => unknown,
): Promise<void> {
  let isOver = false;
  await inParallel(digits, async (digit) => {
    for await (const object of store.list(folder + digit)) {
      if (isOver) return;
      if (take(object) === false) isOver = true;
    }
  });
}
