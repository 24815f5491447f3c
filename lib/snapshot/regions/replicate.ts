import { blobOfKey, hashOf, headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { sameBytes } from "../../storage/cloud-store.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { GetResult, ListedObject, ObjectStore } from "../../storage/object-store.ts";
import { parseHead, rootsOfHead } from "../head/head.ts";
import { readHistory } from "../head/history/history.ts";
import { refuseLostHead } from "../head/lost-head.ts";
import { createSnapshotReader } from "../reader/snapshot-reader.ts";
import type { Head } from "../root.ts";
import { reachableFrom } from "../upkeep/reachable.ts";
import { markCopy, readCopyOf } from "./copy-of.ts";

export interface ReplicateOptions {
  /** Where both lie, in words by which others find them: the copy says of what it is one. */
  readonly places?: { readonly original: string; readonly copy: string };
  /** Whether what the copy has and the original lacks is deleted, once it is a day old; false when absent. Secrets that are gone go at once all the same. */
  readonly prunes?: boolean;
  /** Whether a copy that was published into by itself gives that up; false when absent. */
  readonly discards?: boolean;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: () => number;
}

export interface Replicated {
  readonly generation: number;
  /** When the copy's HEAD was written by its publisher, RFC 3339; absent in a HEAD of an earlier version. */
  readonly at?: string;
  /** Objects that were written, */
  readonly objects: number;
  /** and their size. */
  readonly bytes: number;
  readonly deleted: number;
}

/** Of use to whoever compiles or serves beside this store, and to nobody else. */
const ownTo = /^(?:copy-of$|compile\/lease$|confirmed\/|hooks\/|status\/|wanted\/)/;

/** Objects whose names say what they hold: written once, and never otherwise. */
const isNamedByContent = (key: string): boolean => /^(?:blobs|sources)\/.*\/[0-9a-f]{64}$/.test(key);

/** Copies may be under way to what a list does not show yet. */
const pruneAfterMs = 24 * 3_600_000;

/**
 * Brings a store, from which nobody publishes, to where another one is: snapshots with their history, sources, secrets. What names others
 * comes after them and HEAD last, so that whoever reads the copy sees a whole, if older, state at any time.
 *
 * @throws PortolanError, with the copy's HEAD untouched, where the copy was published into by itself, something that HEAD reaches is missing
 * or damaged, somebody writes to the copy meanwhile, or a store fails
 */
export async function replicate(
  from: ObjectStore,
  to: ObjectStore,
  { places, prunes = false, discards = false, now = Date.now }: ReplicateOptions = {},
): Promise<Replicated> {
  // What points to others is read before them: they are there then, and stay for an hour at least.
  const head = await from.get(headKey);
  if (head.kind !== "found") {
    await refuseLostHead(from);
    throw new PortolanError("nothing was published yet that could be copied");
  }
  const source = parseHead(head.bytes);
  const target = await to.get(headKey);
  if (places !== undefined && (await readCopyOf(from)) === places.copy)
    throw new PortolanError(
      `${places.original} is itself a copy of ${places.copy}; when it is to have the word, \`portolan recover --take-over\` comes first`,
    );
  if (!discards) await refuseDiverged(from, source, target);
  // Before all else: what is cut off half-way is a copy too.
  await markCopy(to, places?.original ?? "");
  const names = (await keysOf(from)).filter(({ key }) => !isNamedByContent(key) && key !== headKey);
  const pointers = await inParallel(names, async ({ key }) => ({
    key,
    was: await to.get(key),
    is: await from.get(key),
  }));

  const there = new Map((await keysOf(to)).map((object) => [object.key, object]));
  const originals = await keysOf(from);
  const missing = originals.filter(({ key }) => isNamedByContent(key) && !there.has(key));
  const sizes = [...(await inParallel(missing, ({ key }) => copy(from, to, key)))];
  const kept = new Set(originals.map(({ key }) => key));
  await needReach(to, source, kept);
  for (const { key, is, was } of pointers) {
    if (is.kind !== "found" || (was.kind === "found" && sameBytes(was.bytes, is.bytes))) continue;
    sizes.push(await putOver(to, key, is.bytes, was));
  }
  if (target.kind !== "found" || !sameBytes(target.bytes, head.bytes))
    sizes.push(await putOver(to, headKey, head.bytes, target));

  const isOld = (object: ListedObject) => prunes && now() - object.modifiedMs > pruneAfterMs;
  const gone = [...there.values()].filter(({ key }) => !kept.has(key));
  const victims = gone.filter((object) => object.key.startsWith("secrets/") || isOld(object));
  await inParallel(victims, ({ key }) => to.delete(key));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const at = source.at === undefined ? {} : { at: source.at };
  return { generation: source.generation, ...at, objects: sizes.length, bytes, deleted: victims.length };
}

async function keysOf(store: ObjectStore): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const object of store.list("")) if (!ownTo.test(object.key)) objects.push(object);
  return objects;
}

async function copy(from: ObjectStore, to: ObjectStore, key: string): Promise<number> {
  const found = await from.get(key);
  // Collected since it was listed: nothing that is copied names it, or `needReach` says so.
  if (found.kind !== "found") return 0;
  const hash = blobOfKey(key);
  if (hash !== undefined && hashOf(found.bytes) !== hash)
    throw new PortolanError(`blob ${hash} holds other bytes than its name means; \`portolan fsck --repair\` mends it`);
  await to.put(key, found.bytes, { ifNoneMatch: "*" });
  return found.bytes.length;
}

async function putOver(to: ObjectStore, key: string, bytes: Uint8Array<ArrayBuffer>, was: GetResult): Promise<number> {
  const condition = was.kind === "found" ? { ifMatch: was.etag } : ({ ifNoneMatch: "*" } as const);
  if ((await to.put(key, bytes, condition)).kind === "lost")
    throw new PortolanError(`another process writes ${key} of the copy; a copy must have no other writer`);
  return bytes.length;
}

/** @throws PortolanError where the copy would lack something that its HEAD reaches */
async function needReach(to: ObjectStore, head: Head, keys: ReadonlySet<string>): Promise<void> {
  const reader = createSnapshotReader(to);
  const has = new Set([...keys].flatMap((key) => blobOfKey(key) ?? []));
  for (const root of rootsOfHead(head)) {
    for (const hash of await reachableFrom(reader, root))
      if (!has.has(hash))
        throw new PortolanError(`the store has no blob ${hash}, which its HEAD reaches; see \`portolan fsck\``);
  }
}

/** @throws PortolanError where the copy's HEAD is none that the original had */
async function refuseDiverged(from: ObjectStore, source: Head, target: GetResult): Promise<void> {
  if (target.kind !== "found") return;
  const copied = parseHead(target.bytes);
  const { generation } = copied;
  if (source.publication === copied.publication) return;
  if (source.generation > generation) {
    for await (const entry of readHistory(createSnapshotReader(from), source.publication)) {
      if (entry.hash === copied.publication) return;
      if (entry.generation < generation) break;
    }
  }
  throw new PortolanError(
    `the copy is at generation ${generation}, which is none of the original's, now at ${source.generation}: another process has published into it. ` +
      "If it has taken over, copy the other way; what it has by itself is given up with --discard",
  );
}
