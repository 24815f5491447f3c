import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { NewerFormat } from "../format.ts";
import { readHead } from "../head/head.ts";
import { settledWithin } from "../worlds/load-cache.ts";

/** Lies in a copy, and is never copied: whoever is asked to take over knows by it that he is one, and of what. */
const copyOfKey = "copy-of";

/** How long an original may take to show that it lives. */
const patienceMs = 5_000;

/** Where the original of a copy lies, as whoever copied has named it; "" where he has not. */
export async function readCopyOf(store: ObjectStore): Promise<string | undefined> {
  const found = await store.get(copyOfKey);
  return found.kind === "found" ? new TextDecoder().decode(found.bytes).trim() : undefined;
}

/** Says in a store that it is a copy of what lies at a place. */
export async function markCopy(store: ObjectStore, place: string): Promise<void> {
  if ((await readCopyOf(store)) === place) return;
  await store.put(copyOfKey, new TextEncoder().encode(`${place}\n`));
}

/** From now on it is an original. */
export const unmarkCopy = (store: ObjectStore): Promise<void> => store.delete(copyOfKey);

/**
 * Two stores that both have the word lose what one of them publishes, so nobody takes over what is an original, or has one that lives.
 *
 * @param open gives the store of a place; absent: nobody looks whether the original lives
 * @throws PortolanError where somebody should think twice
 */
export async function refuseLiving(
  store: ObjectStore,
  open: ((place: string) => Promise<ObjectStore>) | undefined,
): Promise<void> {
  const place = await readCopyOf(store);
  if (place === undefined)
    throw new PortolanError(
      "this store is no copy: `portolan replicate` has not written to it, or it has taken over since, and is published into as it is; --force has it take over all the same",
    );
  const generation = place === "" || open === undefined ? undefined : await generationAt(place, open);
  if (generation === undefined) return;
  throw new PortolanError(
    `the original, ${place}, answers and is at ${generation}: stop its publishers, run \`portolan replicate\` once more, then use --force`,
  );
}

/**
 * Of a store that cannot be opened or read, or is silent, nothing is known: that is what taking over is for. One that a newer version
 * writes lives.
 */
async function generationAt(place: string, open: (place: string) => Promise<ObjectStore>): Promise<string | undefined> {
  const generation = open(place)
    .then((original) => readHead(original))
    .then(
      (read) => read && `generation ${read.head.generation}`,
      (cause: unknown) => (cause instanceof NewerFormat ? "a generation that this version cannot read" : undefined),
    );
  return (await settledWithin(generation, patienceMs)) ? generation : undefined;
}
