/** What may never happen, whatever is done to a store. */

import { PortolanError } from "../../lib/base/diagnostic.ts";
import { readShard } from "../../lib/compile/shards/read-shard.ts";
import { remakeWorlds, sourceProblems } from "../../lib/compile/world/remake-worlds.ts";
import { cohortsOf, lastRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { type HistoryEntry, readHistory } from "../../lib/snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import type { Head } from "../../lib/snapshot/root.ts";
import { readLedger } from "../../lib/snapshot/upkeep/gc-ledger.ts";
import { repair } from "../../lib/snapshot/upkeep/repair.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { numberOf } from "./mesh.ts";
import type { Acknowledged } from "./publishers.ts";

/** What operators were told that is so. */
export interface Said {
  /** Root that everybody is held at. */
  readonly pinned?: string;
  readonly canary?: string;
}

/** As far as any publisher could put a step off, by the defaults; a clock that is an hour ahead is far beyond. */
const latestStepMs = 26_000;

/** What HEAD breaks of what operators were told, and of time. */
export async function headViolations(store: ObjectStore, said: Said): Promise<readonly string[]> {
  const read = await readHead(store).catch(reasonOf);
  if (typeof read === "string") return [read];
  if (read === undefined) return ["HEAD is gone"];
  const { head } = read;
  const nowMs = (await store.time?.()) ?? Date.now();
  const ways = [head, ...cohortsOf(head)];
  const farMs = Math.max(...ways.map(({ steps }) => Date.parse(steps.at(-1)?.at ?? "") - nowMs));
  return [
    ...(farMs > latestStepMs ? [`a step is put off by ${Math.round(farMs / 1_000)} s`] : []),
    ...saidViolations(head, said),
  ];
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof PortolanError)) throw cause;
  return cause.message;
}

function saidViolations(head: Head, { pinned, canary }: Said): readonly string[] {
  const place = `in generation ${head.generation}`;
  const isHeld = pinned === undefined || (head.pin !== undefined && lastRoot(head.steps) === pinned);
  return [
    ...(isHeld ? [] : [`a rollback is undone ${place}`]),
    ...(head.canary?.root === canary ? [] : [`a canary is not what it was said to be ${place}`]),
  ];
}

export interface Checked {
  readonly roots: number;
  readonly mended: number;
  readonly violations: readonly string[];
}

/** Looks at every root, at the history, and at every publish that was ever acknowledged; mends what was damaged. */
export async function checkStore(store: ObjectStore, acknowledged: readonly Acknowledged[]): Promise<Checked> {
  // What is acknowledged from now on is for the next time.
  const toFind = [...acknowledged];
  const { problems, roots, mended } = await repair(store, remakeWorlds(store));
  const entries = await history(store);
  const { oldest = 0 } = (await readLedger(store))?.ledger ?? {};
  return {
    roots,
    mended,
    violations: [
      ...problems.map((problem) => `not whole: ${problem}`),
      ...(await sourceProblems(store)),
      ...lostOf(toFind, entries, oldest),
      ...(await lostTexts(store, toFind)),
    ],
  };
}

async function history(store: ObjectStore): Promise<readonly HistoryEntry[]> {
  const head = (await readHead(store))?.head;
  return head === undefined ? [] : allOf(readHistory(createSnapshotReader(store), head.publication));
}

/** Publishes that were acknowledged and are not in the history, as far back as it is kept. */
function lostOf(
  acknowledged: readonly Acknowledged[],
  entries: readonly HistoryEntry[],
  oldest: number,
): readonly string[] {
  const byGeneration = new Map(entries.map((entry) => [entry.generation, entry]));
  const published = acknowledged.filter(({ kind, generation }) => kind === "published" && generation > oldest);
  const lost = published.filter(({ generation, root }) => byGeneration.get(generation)?.root !== root);
  const twice = published.length - new Set(published.map(({ generation }) => generation)).size;
  return [
    ...lost.map(({ source, generation }) => `lost: generation ${generation}, acknowledged to ${source}`),
    ...(twice === 0 ? [] : [`${twice} generations were acknowledged twice`]),
  ];
}

/** Texts that were acknowledged and are older now in their source. */
async function lostTexts(store: ObjectStore, acknowledged: readonly Acknowledged[]): Promise<readonly string[]> {
  const newest = new Map<string, number>();
  for (const { source, number } of acknowledged) newest.set(source, Math.max(number, newest.get(source) ?? 0));
  const found = [...newest].map(async ([source, number]) => {
    const [file] = (await readShard(store, source))?.files ?? [];
    return file !== undefined && numberOf(file.text) >= number ? [] : [`lost: text ${number} of ${source}`];
  });
  return (await Promise.all(found)).flat();
}
