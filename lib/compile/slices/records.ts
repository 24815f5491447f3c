import { isFields, jsonIn } from "../../base/untyped.ts";
import { isSha256 } from "../../config/canonical-json.ts";
import { cutText } from "../../snapshot/free-text.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** What came of a slice: a root that has its classes, and no others. */
export interface SliceRecord {
  readonly root: string;
}

/** Why a slice did not come about, for whoever waits for it. */
export interface SliceTrouble {
  /** How often it was tried. */
  readonly tries: number;
  readonly reason: string;
}

/** Below it lies what came of slices, by plan. Nobody needs it for long: a plan that is gone is carried out anew. */
export const slicesPrefix = "compile/slices/";

const recordKey = (plan: string, index: number): string => `${slicesPrefix}${plan}/${index}`;
const troubleKey = (plan: string, index: number): string => `${slicesPrefix}${plan}/${index}.trouble`;

async function readJson(store: ObjectStore, key: string): Promise<unknown> {
  const found = await store.get(key);
  return found.kind === "found" ? jsonIn(new TextDecoder().decode(found.bytes)) : undefined;
}

const bytesOf = (json: object): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(json));

/** @returns undefined where there is none, or what is there is none */
export async function readRecord(store: ObjectStore, plan: string, index: number): Promise<SliceRecord | undefined> {
  const json = await readJson(store, recordKey(plan, index));
  const root = isFields(json) ? json.root : undefined;
  return isSha256(root) ? { root } : undefined;
}

/** Writes it unless there is one: whoever comes late, or a second time, says the same. */
export async function writeRecord(store: ObjectStore, plan: string, index: number, record: SliceRecord): Promise<void> {
  const key = recordKey(plan, index);
  const put = await store.put(key, bytesOf(record), { ifNoneMatch: "*" });
  // What is there and is no record is nobody's.
  if (put.kind === "lost" && (await readRecord(store, plan, index)) === undefined)
    await store.put(key, bytesOf(record));
}

/** Takes back a record whose root cannot be read, so that the slice is compiled anew. */
export const dropRecord = (store: ObjectStore, plan: string, index: number): Promise<void> =>
  store.delete(recordKey(plan, index));

export async function readTrouble(store: ObjectStore, plan: string, index: number): Promise<SliceTrouble | undefined> {
  const json = await readJson(store, troubleKey(plan, index));
  if (!isFields(json) || typeof json.tries !== "number" || typeof json.reason !== "string") return undefined;
  return { tries: json.tries, reason: json.reason };
}

const maxReasonBytes = 4_096;

/** Says that a slice has failed once more. */
export async function noteTrouble(store: ObjectStore, plan: string, index: number, reason: string): Promise<void> {
  const before = await readTrouble(store, plan, index);
  const trouble: SliceTrouble = { tries: (before?.tries ?? 0) + 1, reason: cutText(reason, maxReasonBytes) };
  await store.put(troubleKey(plan, index), bytesOf(trouble));
}

/** Forgets what went wrong before: whoever asks now has tries of his own. */
export const forgetTrouble = (store: ObjectStore, plan: string, index: number): Promise<void> =>
  store.delete(troubleKey(plan, index));
