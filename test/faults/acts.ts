/** What is done to a store while publishers go on. */
import { setTimeout as sleep } from "node:timers/promises";
import { blobKey } from "../../lib/base/blob.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { collectedSources } from "../../lib/compile/shards/collect-sources.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { lastRoot, newestRoot, readHead } from "../../lib/snapshot/head/head.ts";
import {
  abortCanary,
  type Moved,
  promoteCanary,
  rollback,
  setCanary,
  unpin,
} from "../../lib/snapshot/head/head-operations.ts";
import { recoverHead } from "../../lib/snapshot/head/recover-head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../../lib/snapshot/upkeep/collectables.ts";
import { reachableFrom } from "../../lib/snapshot/upkeep/reachable.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import type { Said } from "./invariants.ts";
import { pace, textOf } from "./mesh.ts";
import type { Place } from "./place.ts";
import type { Publishers } from "./publishers.ts";

export interface Scene {
  readonly place: Place;
  readonly publishers: Publishers;
  readonly random: () => number;
  /** Polls, and says what is wrong with the answer. */
  readonly meanwhile: () => Promise<readonly string[]>;
}

/** What came of an act: what operators were told since, and what was found wrong on the way. */
export interface Acted {
  readonly said: Said;
  readonly violations?: readonly string[];
}

/** @returns undefined where there is nothing to be done so */
export type ActOf = (scene: Scene, said: Said) => Promise<Acted | undefined>;

const options = { pace, by: "faults" };
const hourMs = 3_600_000;

export const acts = {
  "kill -9 of a publisher": async ({ publishers, random }, said) => {
    await publishers.kill(Math.floor(random() * 9), random() * 150, 0);
    return { said };
  },
  "a clock an hour off": async ({ publishers, random }, said) => {
    await publishers.kill(Math.floor(random() * 9), random() * 150, random() < 0.5 ? hourMs : -hourMs);
    return { said };
  },
  "a race of four": async ({ place: { store }, random }, said) => {
    const racers = ["r1", "r22", "r333", "r4444"].map(async (source) => {
      await writeShard(store, source, [{ file: "shop.yaml", text: textOf(source, Math.floor(random() * 1_000)) }]);
      return createRecompiler({ store, publisher: { pace } })();
    });
    await Promise.allSettled(racers);
    return { said };
  },
  "a silent store": async ({ place, publishers, random, meanwhile }, said) => {
    if (place.silence === undefined) {
      publishers.stop();
      await sleep(200 + random() * 800);
      publishers.goOn();
      return { said };
    }
    // What is served now lies in memory, and stays what it is while nobody publishes.
    publishers.stop();
    await sleep(2 * (pace.settleMs + pace.retentionMs));
    const before = await meanwhile();
    place.silence();
    const during = await meanwhile();
    publishers.goOn();
    await sleep(random() * 1_000);
    place.recover?.();
    return { said, violations: [...before, ...during] };
  },
  "a damaged blob": async ({ place: { store }, random }, said) => {
    const key = await someBlob(store, random);
    if (key === undefined) return undefined;
    const found = await store.get(key);
    const bytes = found.kind === "found" ? found.bytes : new Uint8Array();
    if (random() < 0.3) await store.delete(key);
    else await store.put(key, random() < 0.5 ? bytes.slice(0, bytes.length / 2) : bytes.with(0, 0x20));
    return { said };
  },
  "a lost HEAD": async ({ place: { store }, publishers, random }, said) => {
    await publishers.killAll();
    const before = (await readHead(store))?.head.generation ?? 0;
    if (random() < 0.5) await store.delete("HEAD");
    else await store.put("HEAD", new TextEncoder().encode('{"generation":1,"st'));
    const began = await createRecompiler({ store, publisher: { pace } })().then(
      () => ["a store without HEAD was begun anew"],
      () => [],
    );
    const { head } = await recoverHead(store, options);
    publishers.startAll();
    const backwards =
      head.generation > before ? [] : [`HEAD went back from generation ${before} to ${head.generation}`];
    return { said, violations: [...began, ...backwards] };
  },
  "a rollback": async ({ place: { store }, random }) => {
    const { root } = await rollBack(store, 1 + Math.floor(random() * 3));
    return { said: { pinned: root } };
  },
  "an unpin": async ({ place: { store } }, { pinned, canary }) => {
    if (canary !== undefined) await abortCanary(store, options);
    if (pinned === undefined) await rollBack(store, 1);
    await unpin(store, options);
    return { said: {} };
  },
  "a canary": async ({ place: { store }, random }, said) => {
    return { said: { ...said, canary: await beginCanary(store, random) } };
  },
  "the end of a canary": async ({ place: { store }, random }, { canary }) => {
    if (canary === undefined) await beginCanary(store, random);
    const end = random() < 0.5 ? promoteCanary : abortCanary;
    const { head, root } = await end(store, options);
    return { said: head.pin === undefined ? {} : { pinned: root } };
  },
  "collecting garbage": async ({ place: { store } }, said) => {
    const others = [...collectables, collectedSources];
    // Hardly any grace, so that things are deleted under the publishers' feet.
    const gc = { keepPublications: 8, graceMs: 50, now: Date.now, budgetMs: 5_000, others };
    for (let run = 0; run < 3; run += 1) {
      await collectGarbage(store, gc);
      await sleep(60);
    }
    return { said };
  },
} satisfies Readonly<Record<string, ActOf>>;

async function beginCanary(store: ObjectStore, random: () => number): Promise<string> {
  const head = (await readHead(store))?.head;
  const root = head === undefined ? "" : newestRoot(head);
  await setCanary(store, { root, percent: Math.floor(random() * 100), labels: {} }, options);
  return root;
}

/**
 * A blob of what is served or newest, or the newest entry of the history. No root: which sources it was made from is written in
 * it alone, so that it can be made again only as long as they say the same.
 */
async function someBlob(store: ObjectStore, random: () => number): Promise<string | undefined> {
  const head = (await readHead(store))?.head;
  if (head === undefined) return undefined;
  if (random() < 0.15) return blobKey(head.publication);
  const root = random() < 0.5 ? newestRoot(head) : lastRoot(head.steps);
  // What was damaged before and is not mended yet is damage enough.
  const reachable = await reachableFrom(createSnapshotReader(store), root).catch(() => new Set<string>());
  const blobs = [...reachable].filter((hash) => hash !== root).sort();
  const hash = blobs[Math.floor(random() * blobs.length)];
  return hash === undefined ? undefined : blobKey(hash);
}

/** So far back, or as far as it goes: what earlier rollbacks left is nothing to go back to. */
async function rollBack(store: ObjectStore, back: number): Promise<Moved> {
  return rollback(store, back, options).catch((cause: unknown) => {
    if (back === 0 || !String(cause).includes("does not go back")) throw cause;
    return rollBack(store, back - 1);
  });
}
