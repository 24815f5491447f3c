import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readHead, rootAt } from "../../lib/snapshot/head/head.ts";
import { abortCanary, promoteCanary, rollback, setCanary, unpin } from "../../lib/snapshot/head/head-operations.ts";
import { statusOf } from "../../lib/snapshot/head/head-status.ts";
import { readHistory } from "../../lib/snapshot/head/history/history.ts";
import { createPublisher, type Publishing } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { propertyRuns } from "../soak-options.ts";
import { contentsOf, worldOf } from "./worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const minute = 60_000;
const world = (content: string) => worldOf({ web: { clusters: { a: "1" }, routes: { "80": content } } });
const tenPercent = { percent: 10, labels: {} };

/** A store in which time goes on by itself, a minute with each publish. */
function scene() {
  let nowMs = Date.UTC(2026, 0, 1);
  const now = () => nowMs;
  const store = memoryStore(now);
  const head = async () => {
    const read = await readHead(store);
    if (read === undefined) throw new Error("no HEAD");
    return read.head;
  };
  const contentOf = async (root: string) =>
    contentsOf((await restoreWorld(createSnapshotReader(store), root)).world, "web", "routes")["80"];
  return {
    store,
    options: { pace, now },
    head,
    later: (ms: number) => {
      nowMs += ms;
    },
    async publish(content: string, publishing?: Publishing) {
      nowMs += minute;
      const publisher = createPublisher(store, { pace, now });
      const result = await publisher.publish(world(content), await publisher.head(), publishing);
      return result.kind;
    },
    served: async () => contentOf(rootAt(await head(), nowMs)),
    async newest() {
      const { newest, steps } = await head();
      return contentOf(newest ?? steps.at(-1)?.root ?? "");
    },
    async history() {
      const entries = await allOf(readHistory(createSnapshotReader(store), (await head()).publication));
      return Promise.all(entries.map(async ({ reason, root, held = false }) => [reason, await contentOf(root), held]));
    },
  };
}

describe("what is rolled back", () => {
  it("stays, whoever publishes whatever: it is recorded, and the answer is pinned", async () => {
    const { publish, served, newest, store, options, history } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, by: "ann@host", why: "checkout is down" });
    expect(await publish("2")).toBe("pinned");
    expect(await publish("3")).toBe("pinned");
    expect(await publish("1")).toBe("pinned");
    expect(await publish("4")).toBe("pinned");
    expect([await served(), await newest()]).toEqual(["1", "4"]);
    expect((await history()).slice(0, 4)).toEqual([
      ["publish", "4", true],
      ["publish", "1", true],
      ["publish", "3", true],
      ["rollback", "1", false],
    ]);
    expect((await fsck(store)).problems).toEqual([]);
  });

  it("says who pinned it, why and since when, and writes nothing for a recompile of unchanged sources", async () => {
    const { publish, store, options, head } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, by: "ann@host", why: "checkout is down" });
    const before = await readHead(store);
    expect(before?.head.pin).toEqual({ by: "ann@host", why: "checkout is down", since: "2026-01-01T00:02:00.000Z" });
    expect(await publish("2")).toBe("pinned");
    expect(await readHead(store)).toEqual(before);
    expect((await head()).generation).toBe(3);
  });

  it("gets through however busy publishers are, and not over what another operator has said meanwhile", async () => {
    const { publish, store, options, served } = scene();
    await publish("1");
    await publish("2");
    let left = 5;
    let between = async (): Promise<unknown> => publish(String(10 + left));
    const busy: ObjectStore = {
      ...store,
      async put(key, ...rest) {
        if (key === "HEAD" && left > 0) {
          left -= 1;
          await between();
        }
        return store.put(key, ...rest);
      },
    };
    await rollback(busy, 1, options);
    expect([left, await served()]).toEqual([0, "1"]);
    left = 1;
    between = () => rollback(store, 0, { ...options, by: "bob", why: "mine" });
    await expect(rollback(busy, 0, { ...options, by: "ann" })).rejects.toThrow("at the same moment");
  });

  it("is let go by unpin, which leads to what was published meanwhile", async () => {
    const { publish, served, store, options, head } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, options);
    await publish("3");
    await unpin(store, options);
    expect(await served()).toBe("3");
    expect(await head()).not.toHaveProperty("pin");
    expect(await publish("3")).toBe("unchanged");
    expect(await publish("4")).toBe("published");
    await expect(unpin(store, options)).rejects.toThrow("nothing is pinned");
  });

  it("is let go by its time, with the next publish", async () => {
    const { publish, served, store, options, later, head } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, until: { afterMs: 10 * minute } });
    expect(await publish("3")).toBe("pinned");
    later(10 * minute);
    expect(await served()).toBe("1");
    expect(await publish("3")).toBe("published");
    expect(await served()).toBe("3");
    expect(await head()).not.toHaveProperty("pin");
  });

  it("is let go by unpin also when its time is over, and status says meanwhile what is served and what is newest", async () => {
    const { publish, served, newest, store, options, later, head } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, by: "ann", until: { afterMs: 10 * minute } });
    const status = async () => statusOf(createSnapshotReader(store), await head(), options.now());
    expect(await status()).toMatchObject({ pin: { by: "ann" }, expired: undefined });
    later(10 * minute);
    const after = await status();
    expect(after).toMatchObject({ pin: undefined, expired: { by: "ann" } });
    expect([await served(), await newest(), after.served === after.newest]).toEqual(["1", "2", false]);
    await unpin(store, options);
    expect([await served(), await newest()]).toEqual(["2", "2"]);
    expect(await status()).toMatchObject({ pin: undefined, expired: undefined });
    await expect(unpin(store, options)).rejects.toThrow("nothing is pinned");
  });

  it("is let go by its time with a compile of sources that have not changed", async () => {
    const { publish, served, store, options, later } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, until: { afterMs: 10 * minute } });
    later(10 * minute);
    expect(await publish("2")).toBe("published");
    expect(await served()).toBe("2");
    expect(await publish("2")).toBe("unchanged");
  });

  it("is held while a canary runs: its end, and not the pin's time, decides what everybody gets", async () => {
    const { publish, served, store, options, later } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, until: { afterMs: 10 * minute } });
    await publish("3", { share: tenPercent });
    later(10 * minute);
    expect(await publish("3")).toBe("pinned");
    expect(await served()).toBe("1");
    await abortCanary(store, options);
    expect(await publish("3")).toBe("pinned");
    expect(await served()).toBe("1");
  });

  it.each([-60 * minute, 60 * minute])(
    "is held for as long as was said, by the store's clock, by an operator whose clock is %i ms ahead",
    async (aheadMs) => {
      const { publish, store, options, head, later } = scene();
      await publish("1");
      await publish("2");
      const operator = { pace, now: () => options.now() + aheadMs };
      await rollback(store, 1, { ...operator, until: { afterMs: 30 * minute } });
      const pin = { since: "2026-01-01T00:02:00.000Z", until: "2026-01-01T00:32:00.000Z" };
      expect((await head()).pin).toMatchObject(pin);
      expect(await publish("2")).toBe("pinned");
      later(30 * minute);
      expect(await publish("2")).toBe("published");
    },
  );

  it("is not pinned until a time that is over by the store's clock", async () => {
    const { publish, served, store, options } = scene();
    await publish("1");
    await publish("2");
    const operator = { pace, now: () => options.now() - 60 * minute };
    const until = { atMs: options.now() - minute };
    await expect(rollback(store, 1, { ...operator, until })).rejects.toThrow("is over: the store's clock shows");
    expect(await served()).toBe("2");
  });

  it("ends a canary, and says so", async () => {
    const { publish, store, options, head } = scene();
    await publish("1");
    await publish("2");
    await publish("3", { share: tenPercent });
    const canary = (await head()).canary;
    expect((await rollback(store, 1, options)).ended).toEqual(canary);
    expect(await head()).not.toHaveProperty("canary");
  });
});

describe("rollback by a number", () => {
  it("counts what was served, and neither canaries, aborts, collections nor what was only recorded", async () => {
    const { publish, served, store, options, head } = scene();
    await publish("1");
    const root = (await head()).steps.at(-1)?.root ?? "";
    await publish("2");
    await setCanary(store, { root, ...tenPercent }, options);
    await abortCanary(store, options);
    await publish("3");
    await rollback(store, 1, options);
    expect(await served()).toBe("2");
    await publish("4");
    await publish("5");
    await rollback(store, 1, options);
    expect(await served()).toBe("1");
    await expect(rollback(store, 9, options)).rejects.toThrow("does not go back 9");
  });

  it("never leads to what a rollback left, and says what it leaves", async () => {
    const { publish, served, store, options, head } = scene();
    const roots: string[] = [];
    for (const content of ["1", "2", "3"]) {
      await publish(content);
      roots.push((await head()).steps.at(-1)?.root ?? "");
    }
    const [first, second, third] = roots;
    expect(await rollback(store, 1, options)).toMatchObject({ root: second, left: third });
    expect(await rollback(store, 1, options)).toMatchObject({ root: first, left: second });
    await expect(rollback(store, 1, options)).rejects.toThrow("does not go back 1");
    await unpin(store, options);
    expect(await served()).toBe("3");
    // The way is 1, 3 now: 2 was left.
    expect(await rollback(store, 1, options)).toMatchObject({ root: first, left: third });
  });

  /** What is served before what, kept as a person would keep it: a rollback takes away what it leaves. */
  it("goes back along the way of what was not left, whatever was done before", async () => {
    const act = fc.oneof(fc.constantFrom("a", "b", "c"), fc.constantFrom(0, 1, 2), fc.constant("unpin" as const));
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 12 }), async (acts) => {
        const { publish, served, newest, store, options, head } = scene();
        const way: string[] = [];
        const goTo = (content: string) => {
          if (way.at(-1) !== content) way.push(content);
        };
        for (const act of acts) {
          if (typeof act === "number") {
            if (way.length <= act) continue;
            await rollback(store, act, options);
            way.length -= act;
          } else if (act === "unpin") {
            if ((await head().catch(() => undefined))?.pin === undefined) continue;
            goTo(String(await newest()));
            await unpin(store, options);
          } else if ((await publish(act)) !== "pinned") goTo(act);
          expect(await served()).toBe(way.at(-1));
        }
      }),
      { numRuns: propertyRuns(60), examples: [[["b", "c", "a", "c", 2, 1]]] },
    );
  });
});

describe("a publish for a part of the nodes", () => {
  it("moves nobody else, also when the sources are compiled again", async () => {
    const { publish, served, head } = scene();
    await publish("1");
    expect(await publish("2", { share: tenPercent, by: "ci" })).toBe("canary");
    expect(await publish("2")).toBe("pinned");
    expect(await served()).toBe("1");
    expect((await head()).canary).toMatchObject(tenPercent);
    expect(await publish("3")).toBe("pinned");
    expect(await served()).toBe("1");
  });

  it("stays undone when it is aborted", async () => {
    const { publish, served, store, options, head } = scene();
    await publish("1");
    await publish("2", { share: tenPercent });
    await abortCanary(store, { ...options, by: "bob", why: "5xx" });
    expect((await head()).pin).toMatchObject({ by: "bob", why: "5xx" });
    expect(await publish("2")).toBe("pinned");
    expect(await served()).toBe("1");
  });

  it("is served to everybody once it is promoted, and what comes after it is published as ever", async () => {
    const { publish, served, store, options, head } = scene();
    await publish("1");
    await publish("2", { share: tenPercent });
    await promoteCanary(store, options);
    expect(await served()).toBe("2");
    expect(await head()).not.toHaveProperty("pin");
    expect(await publish("2")).toBe("unchanged");
    expect(await publish("3")).toBe("published");
  });

  it("stays promoted although the sources have moved on meanwhile, until somebody lets go", async () => {
    const { publish, served, store, options } = scene();
    await publish("1");
    await publish("2", { share: tenPercent });
    await publish("3");
    await promoteCanary(store, options);
    expect(await publish("3")).toBe("pinned");
    expect(await served()).toBe("2");
    await unpin(store, options);
    expect(await served()).toBe("3");
  });

  it("leaves a rollback pinned, and mends it when it is promoted", async () => {
    const { publish, served, store, options, head } = scene();
    await publish("1");
    await publish("2");
    await rollback(store, 1, { ...options, why: "2 is broken" });
    await publish("3", { share: tenPercent });
    expect((await head()).pin?.why).toBe("2 is broken");
    await promoteCanary(store, options);
    expect(await served()).toBe("3");
    expect(await publish("4")).toBe("published");
  });

  it("keeps unpin waiting for its end", async () => {
    const { publish, store, options } = scene();
    await publish("1");
    await publish("2", { share: tenPercent });
    await expect(unpin(store, options)).rejects.toThrow("promote it or abort it first");
  });

  it("needs something that it can differ from", async () => {
    await expect(scene().publish("1", { share: tenPercent })).rejects.toThrow("nothing was published yet");
  });
});

describe("a canary of a root that was published before", () => {
  it("stays undone or promoted when it ends, and holds nothing while the sources lead to what is served", async () => {
    const { publish, served, store, options, head } = scene();
    await publish("1");
    const root = (await head()).steps[0]?.root ?? "";
    await publish("2");
    await setCanary(store, { root, ...tenPercent }, options);
    await abortCanary(store, options);
    expect(await head()).not.toHaveProperty("pin");
    expect(await publish("2")).toBe("unchanged");
    await setCanary(store, { root, ...tenPercent }, options);
    await promoteCanary(store, options);
    expect(await served()).toBe("1");
    expect(await publish("2")).toBe("pinned");
  });
});
