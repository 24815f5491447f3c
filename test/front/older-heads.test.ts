import { beforeAll, describe, expect, it } from "vitest";
import { headKey } from "../../lib/base/blob.ts";
import { type BelievedGenerations, memoryGenerations } from "../../lib/front/heads/believed-generations.ts";
import { createHeadRelay } from "../../lib/front/workers/head-relay.ts";
import { createPrimary } from "../../lib/front/workers/primary.ts";
import { createWorker } from "../../lib/front/workers/worker.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";
import { lines } from "./workers/lines.ts";

let signer: SigningJwk;
let trusted: readonly SigningJwk[];
beforeAll(async () => {
  signer = await makeSigningKey("roots");
  trusted = [publicPart(signer)];
});

async function publish(store: ObjectStore, content: string): Promise<void> {
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, signer });
  await publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
}

async function headOf(store: ObjectStore): Promise<Uint8Array<ArrayBuffer>> {
  const found = await store.get(headKey);
  if (found.kind !== "found") throw new Error("no HEAD");
  return found.bytes;
}

/** A front of several processes, of which one may be started in the place of another. */
function frontOf(store: ObjectStore, generations: BelievedGenerations) {
  const now = Date.now;
  const relay = createHeadRelay(store, { everyMs: 0, now, onChange: () => primary.headChanged() });
  const news = { onStranger() {}, onRefusal() {}, onError() {} };
  const primary = createPrimary({ relay, generations, storeMs: async () => undefined, ...news, now });
  return {
    startWorker() {
      const [toPrimary, toWorker] = lines();
      primary.join(toWorker, { serving() {}, failed() {} });
      const worker = createWorker(toPrimary, now);
      const reasons: string[] = [];
      const { poll } = testFront({
        store: worker.storeOver(store),
        trusted,
        generations: worker.generations,
        onError: (cause) => reasons.push(String(cause)),
      });
      return { reasons, ask: () => asked(poll) };
    },
    close: () => primary.close(),
  };
}

async function asked(poll: ReturnType<typeof testFront>["poll"]): Promise<string | number> {
  const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
  return response.status === 200 ? (/"content":"(\w+)"/.exec(await response.text())?.[1] ?? "") : response.status;
}

describe("an older signed HEAD that is put back", () => {
  it("is not believed by a worker that takes another's place", async () => {
    const store = memoryStore();
    const { startWorker, close } = frontOf(store, memoryGenerations());
    await publish(store, "open");
    const old = await headOf(store);
    const first = startWorker();
    expect(await first.ask()).toBe("open");
    await publish(store, "closed");
    expect(await first.ask()).toBe("closed");
    await store.put(headKey, old);
    expect(await first.ask()).toBe("closed");
    const second = startWorker();
    expect(await second.ask()).toBe(503);
    expect(second.reasons.join()).toMatch(/HEAD went back from generation \d+ to \d+.*restart the front/);
    // What is newer is followed by both.
    await publish(store, "anew");
    expect([await first.ask(), await second.ask()]).toEqual(["anew", "anew"]);
    close();
  });

  it("is not what a worker asked for before another one believed a newer HEAD", async () => {
    const relay = { read: async () => ({ kind: "absent" }) as const, close() {} };
    const generations = memoryGenerations();
    const news = { onStranger() {}, onRefusal() {}, onError() {} };
    const primary = createPrimary({ relay, generations, storeMs: async () => undefined, ...news, now: Date.now });
    const [[{ send, listen }, toAsking], [other, toOther]] = [lines(), lines()];
    for (const line of [toAsking, toOther]) primary.join(line, { serving() {}, failed() {} });
    const answered = new Promise(listen);
    send({ kind: "head?", id: 1, ifNoneMatch: undefined });
    other.send({ kind: "believed", generation: 2 });
    expect(await answered).toMatchObject({ kind: "head", id: 1, believed: 0 });
    expect(generations.newest()).toBe(2);
  });

  it("is not believed by a front that knows a newer one from before its start", async () => {
    const store = memoryStore();
    const generations = memoryGenerations();
    const start = () => testFront({ store, trusted, generations }).poll;
    await publish(store, "open");
    const old = await headOf(store);
    await publish(store, "closed");
    expect(await asked(start())).toBe("closed");
    await store.put(headKey, old);
    expect(await asked(start())).toBe(503);
  });

  it("is followed where no keys are trusted: anybody could write a newer one", async () => {
    const store = memoryStore();
    const generations = memoryGenerations();
    await publish(store, "open");
    const old = await headOf(store);
    await publish(store, "closed");
    expect(await asked(testFront({ store, generations }).poll)).toBe("closed");
    await store.put(headKey, old);
    expect(await asked(testFront({ store, generations }).poll)).toBe("open");
  });
});
