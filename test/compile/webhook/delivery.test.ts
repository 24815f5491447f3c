import { describe, expect, it } from "vitest";
import { createOnce } from "../../../lib/compile/webhook/delivery.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const hourMs = 3_600_000;
const done = async () => new Response();

/** A delivery whose process began to act, and never ends. */
async function begunIn(store: ObjectStore, now = () => 0) {
  const begun = Promise.withResolvers<void>();
  void createOnce(store, now)("portolan", "k", () => {
    begun.resolve();
    return new Promise(() => {});
  });
  await begun.promise;
}

describe("a delivery that another process has begun", () => {
  it.each([
    ["ahead", hourMs],
    ["behind", -hourMs],
  ])("is not taken over by a process whose clock is %s", async (_how, offMs) => {
    for (const store of [memoryStore(), memoryStore(() => 1_000)]) {
      await begunIn(store, () => 5 * hourMs);
      const again = createOnce(store, () => 5 * hourMs + offMs);
      expect((await again("portolan", "k", done)).status).toBe(503);
    }
  });

  it("is taken over when it has given no sign of life by the store's clock", async () => {
    let storeMs = 1_000;
    const store = memoryStore(() => storeMs);
    await begunIn(store);
    const again = createOnce(store, () => 0);
    expect((await again("portolan", "k", done)).status).toBe(503);
    storeMs += 15_001;
    expect((await again("portolan", "k", done)).status).toBe(200);
  });

  it("is taken over by a process that has seen no sign of life for a while, where the store has no clock", async () => {
    let passedMs = 0;
    const store = memoryStore();
    await begunIn(store);
    const again = createOnce(
      store,
      () => 0,
      () => passedMs,
    );
    expect((await again("portolan", "k", done)).status).toBe(503);
    passedMs += 15_000;
    expect((await again("portolan", "k", done)).status).toBe(503);
    passedMs += 1;
    expect((await again("portolan", "k", done)).status).toBe(200);
  });

  it("is told from one of the same millisecond by a store that answers a write twice", async () => {
    const written: string[] = [];
    const store = memoryStore();
    const put: ObjectStore["put"] = (key, bytes, condition) => {
      written.push(new TextDecoder().decode(bytes));
      return store.put(key, bytes, condition);
    };
    for (const key of ["k", "l"]) await createOnce({ ...store, put }, () => 5)("portolan", key, done);
    expect(written.map((note) => note.split(" ").slice(0, 2).join(" "))).toEqual([
      "begun 5",
      "done 5",
      "begun 5",
      "done 5",
    ]);
    expect(new Set(written).size).toBe(4);
  });

  it.each([
    ["begun 5", 503],
    ["failed 5", 200],
    ["done 5", 409],
  ])("is read in the form of earlier versions: %s", async (note, status) => {
    const store = memoryStore();
    await store.put("hooks/portolan/k", new TextEncoder().encode(note), { ifNoneMatch: "*" });
    expect((await createOnce(store, () => 5)("portolan", "k", done)).status).toBe(status);
  });

  it("is another for each sender", async () => {
    const once = createOnce(memoryStore(), () => 0);
    expect((await once("portolan source b", "deploy-4711", done)).status).toBe(200);
    expect((await once("portolan", "deploy-4711", done)).status).toBe(200);
    expect((await once("portolan", "deploy-4711", done)).status).toBe(409);
  });
});
