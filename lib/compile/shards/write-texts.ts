import { retainBlobs } from "../../snapshot/upkeep/gc-ledger.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { vouchedFor } from "../../storage/vouched-for.ts";
import { textIn } from "./source-shard.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

export interface WriteTextsOptions {
  /** The store itself keeps from being collected what a writer finds in place; false when absent. */
  readonly storeRescues?: boolean | undefined;
  /** Keys, of one folder, that are named by what is in force: what should be there cannot have been collected, and is only looked at. */
  readonly named?: ReadonlySet<string>;
  /** Called for each key whose text is under way to the store. */
  readonly meanwhile?: (key: string) => void;
}

/**
 * Writes what is not in place whole. What is, is kept from being collected.
 *
 * @returns to be called when something names the texts: writes again what was collected until then
 */
export async function writeTexts(
  store: ObjectStore,
  texts: ReadonlyMap<string, string>,
  { storeRescues = false, named = new Set(), meanwhile = () => {} }: WriteTextsOptions = {},
): Promise<() => Promise<void>> {
  const found = new Set<string>();
  const whole = named.size < worthListing ? new Set<string>() : await vouchedTexts(store, texts, named);
  const together = store.together?.();
  await inParallel(texts, async ([key, text]) => {
    if (named.has(key) && (whole.has(key) || (await holds(store, key, text)))) return;
    const putting = store.put(key, utf8(text), { ifNoneMatch: "*", together });
    const [put] = await Promise.all([putting, callAsync(meanwhile, key)]);
    if (put.kind === "stored") return;
    found.add(key);
    if (!(await holds(store, key, text))) await store.put(key, utf8(text));
  });
  await together?.kept();
  const settle = settlingOf(
    store,
    storeRescues ? new Map() : new Map([...found].map((key) => [key, texts.get(key) ?? ""])),
  );
  await settle();
  return settle;
}

/** Rejects where the function throws. */
const callAsync = async (act: (key: string) => void, key: string): Promise<void> => act(key);

/** Fewer are looked at one by one: that takes no longer than a list. */
const worthListing = 32;

/** Those of the named keys that the store's list vouches for. A process that starts cold has thousands to look at. */
function vouchedTexts(
  store: ObjectStore,
  texts: ReadonlyMap<string, string>,
  named: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const [first = ""] = named;
  const folder = first.slice(0, first.lastIndexOf("/") + 1);
  return vouchedFor(store, folder, (key) => {
    const text = named.has(key) ? texts.get(key) : undefined;
    return text === undefined ? undefined : utf8(text);
  });
}

async function holds(store: ObjectStore, key: string, text: string): Promise<boolean> {
  const there = await store.get(key);
  return there.kind === "found" && textIn(there.bytes) === text;
}

/** By itself, so that what is waited with until the end holds none of the texts that were new: a first push has thousands. */
const settlingOf = (store: ObjectStore, inPlace: ReadonlyMap<string, string>) => async (): Promise<void> => {
  if (inPlace.size === 0) return;
  const gone = await retainBlobs(store, new Set(inPlace.keys()));
  await inParallel(gone, (key) => store.put(key, utf8(inPlace.get(key) ?? ""), { ifNoneMatch: "*" }));
};
