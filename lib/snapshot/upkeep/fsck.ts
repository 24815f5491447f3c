import { blobKey, hashOf } from "../../base/blob.ts";
import { causeText } from "../../base/cause-text.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { headTimeNow } from "../head/clock.ts";
import { cohortsOf, type ReadHead, readHead, stagesFrom } from "../head/head.ts";
import { readUnbroken } from "../head/history/history.ts";
import { refuseLostHead } from "../head/lost-head.ts";
import { isSigned, type Trust } from "../head/signatures.ts";
import type { BlobSource } from "../reader/blobs.ts";
import { createSnapshotReader } from "../reader/snapshot-reader.ts";
import { createWorldCheck } from "../worlds/check-world.ts";
import { createColumns } from "../worlds/columns.ts";
import { restoreWorld } from "../worlds/restore-world.ts";
import { ledgerKey, readLedger } from "./gc-ledger.ts";
import { reachableFrom } from "./reachable.ts";

export interface FsckResult {
  readonly publications: number;
  readonly roots: number;
  readonly blobs: number;
  /** What is wrong, in words; empty when all is well. */
  readonly problems: readonly string[];
  /** Blobs that are missing or damaged, as far as they are known: what a missing one names is not. */
  readonly broken: readonly string[];
}

export interface FsckOptions extends Pick<Trust, "trusted"> {
  readonly keepPublications?: number;
  readonly now?: () => number;
}

/**
 * Proves that everything that can be asked for is there: every blob that HEAD and its history reach exists and hashes to its
 * name, generations fall by one along the chain, and every root that HEAD still leads to is whole. What was collected, and what
 * was only recorded, is asked for by nobody.
 *
 * @param options.keepPublications how far back the history is looked at
 * @param options.trusted keys of which one must have signed HEAD; none are asked for when it is absent
 */
export async function fsck(store: ObjectStore, options: FsckOptions = {}): Promise<FsckResult> {
  const { keepPublications = Number.POSITIVE_INFINITY, trusted, now = Date.now } = options;
  const problems: string[] = [];
  const attempt = async (what: string, check: () => Promise<void>) =>
    check().catch((cause: unknown) => {
      problems.push(`${what}: ${causeText(cause)}`);
    });
  const broken = new Set<string>();
  const reader = createSnapshotReader(watching(store, broken));
  const roots = new Set<string>();
  const blobs = new Set<string>();
  const isWhole = createWorldCheck(createColumns());
  let publications = 0;

  const ledger = await readLedger(store);
  const isLedgerLost = ledger !== undefined && ledger.ledger === undefined;
  if (isLedgerLost) problems.push(lostLedger);

  await attempt("HEAD", async () => {
    const read = await readHead(store);
    if (read === undefined) return refuseLostHead(store);
    const { head } = read;
    if (trusted !== undefined && !(await isSigned(trusted, head)))
      problems.push("HEAD is signed with none of the trusted keys");
    for (const root of rootsToCome(read, await headTimeNow(store, read, now))) roots.add(root);
    for (const root of roots) {
      await attempt(`root ${root}`, async () => {
        const { world } = await restoreWorld(reader, root);
        for (const problem of isWhole(world)) problems.push(`root ${root}: ${problem}`);
      });
    }
    // Without the ledger it is not known what of the history was collected: then no more than HEAD's own entry is looked at.
    const oldest = isLedgerLost ? Number.POSITIVE_INFINITY : (ledger?.ledger?.oldest ?? 0);
    let expected = head.generation;
    // A HEAD that was rebuilt passes over generations that may never have been in force.
    let mayJump = false;
    for await (const { hash, generation, root, held, reason } of readUnbroken(reader, head.publication)) {
      if (mayJump ? generation > expected : generation !== expected) {
        problems.push(`publication ${hash} has generation ${generation}, not ${expected}`);
      }
      expected = generation - 1;
      mayJump = reason === "recover";
      blobs.add(hash);
      if (held !== true) roots.add(root);
      publications += 1;
      if (publications >= keepPublications || generation <= oldest) return;
    }
    if (expected !== 0) problems.push(`the history lacks generation ${expected}`);
  });
  for (const root of roots) {
    await attempt(`root ${root}`, async () => {
      for (const hash of await reachableFrom(reader, root)) blobs.add(hash);
    });
  }
  await inParallel(blobs, (hash) =>
    attempt(`blob ${hash}`, async () => {
      const found = await store.get(blobKey(hash));
      const isBroken = found.kind !== "found" || hashOf(found.bytes) !== hash;
      if (isBroken) broken.add(hash);
      if (found.kind !== "found") problems.push(`blob ${hash} is missing`);
      else if (isBroken) problems.push(`blob ${hash} holds other bytes than its name means`);
    }),
  );
  return { publications, roots: roots.size, blobs: blobs.size, problems: problems.sort(), broken: [...broken].sort() };
}

const lostLedger =
  `${ledgerKey} is empty or holds something else, so it is not known what garbage collection has deleted. Nothing is deleted because of ` +
  "it, publishes write again what they rely on, and fsck has checked only what HEAD refers to. `portolan gc` writes the file again";

/** Roots that are served, or will be without anybody's doing. */
function rootsToCome({ head }: ReadHead, nowMs: number): readonly string[] {
  const ways = [head, ...cohortsOf(head)];
  const steps = ways.flatMap((way) => stagesFrom(way.steps, nowMs).map(({ root }) => root));
  return [...steps, head.canary?.root, head.newest].filter((root) => root !== undefined);
}

/** A store that takes note of blobs that are not as they should be. */
function watching(store: BlobSource, broken: Set<string>): BlobSource {
  return {
    async get(key, condition) {
      const found = await store.get(key, condition);
      const hash = key.slice(key.lastIndexOf("/") + 1);
      if (key === blobKey(hash) && (found.kind !== "found" || hashOf(found.bytes) !== hash)) broken.add(hash);
      return found;
    },
  };
}
