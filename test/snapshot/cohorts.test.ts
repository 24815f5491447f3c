import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { rolloutFor } from "../../lib/snapshot/head/cohorts.ts";
import { readHead, rootAt } from "../../lib/snapshot/head/head.ts";
import { abortCanary, promoteCanary, rollback, setCanary, unpin } from "../../lib/snapshot/head/head-operations.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import type { Head, Share } from "../../lib/snapshot/root.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { propertyRuns } from "../soak-options.ts";
import { contentsOf, worldOf } from "./worlds.ts";

const pace = { settleMs: 1_000, retentionMs: 4_000 };
const startMs = Date.UTC(2026, 0, 1);

/** A class whose routes name its clusters: what a mesh with these services looks like. */
const mesh = (...services: readonly string[]): CompiledWorld =>
  worldOf({
    web: { clusters: Object.fromEntries(services.map((name) => [name, "1"])), routes: { "80": services.join(" ") } },
  });

/** A store on a clock of its own, and every HEAD that it ever had. */
function scene() {
  let nowMs = startMs;
  const now = () => nowMs;
  const store = memoryStore(now);
  const publisher = createPublisher(store, { pace, now });
  const heads: { readonly fromMs: number; readonly head: Head }[] = [];
  const worlds = new Map<string, CompiledWorld>();
  const seen = async () => {
    const read = await readHead(store);
    if (read !== undefined) heads.push({ fromMs: nowMs, head: read.head });
  };
  const act = async (run: () => Promise<unknown>) => {
    await run();
    await seen();
  };
  const options = { pace, now };
  return {
    store,
    later: (ms: number) => {
      nowMs += ms;
    },
    publish: (world: CompiledWorld, share?: Share) =>
      act(async () => publisher.publish(world, await publisher.head(), share === undefined ? {} : { share })),
    canary: (root: string, share: Share) => act(() => setCanary(store, { root, ...share }, options)),
    abort: () => act(() => abortCanary(store, options)),
    promote: () => act(() => promoteCanary(store, options)),
    rollback: (back: number) => act(() => rollback(store, back, options)),
    unpin: () => act(() => unpin(store, options)),
    newest: () => heads.at(-1)?.head,
    now,
    /** What a node is served at a time: its clusters, and the clusters that its routes name. */
    async servedTo(nodeId: string, atMs: number, labels: Readonly<Record<string, string>> = {}) {
      const head = heads.findLast(({ fromMs }) => fromMs <= atMs)?.head;
      if (head === undefined) throw new Error("nothing was published yet");
      const root = rootAt(rolloutFor(head, { nodeId, labels: () => labels }), atMs);
      const world = worlds.get(root) ?? (await restoreWorld(createSnapshotReader(store), root)).world;
      worlds.set(root, world);
      const routes = contentsOf(world, "web", "routes")["80"] ?? "";
      return { clusters: Object.keys(contentsOf(world, "web", "clusters")), routed: routes.split(" ") };
    },
  };
}

/** Nodes whose ids hash to 4.5, 44 and 94 per cent. */
const [inTen, inHalf, last] = ["node-7", "node-18", "node-6"];
const ten = { percent: 10, labels: {} };
const half = { percent: 50, labels: {} };

async function timeline(
  { servedTo, now }: Pick<ReturnType<typeof scene>, "servedTo" | "now">,
  nodeId: string,
  ...afterMs: readonly number[]
) {
  const at = now();
  const served = [];
  for (const ms of afterMs) {
    const { clusters, routed } = await servedTo(nodeId, at + ms);
    served.push(`${clusters.join("")}→${routed.join("")}`);
  }
  return served;
}

describe("a canary", () => {
  it("gives its nodes clusters before routes, and everybody else nothing", async () => {
    const test = scene();
    await test.publish(mesh("a"));
    test.later(60_000);
    await test.publish(mesh("b"), ten);
    expect(await timeline(test, inTen, 0, 1_000, 6_000)).toEqual(["ab→a", "ab→b", "b→b"]);
    expect(await timeline(test, inHalf, 0, 1_000, 6_000)).toEqual(["a→a", "a→a", "a→a"]);
  });

  it("leaves its nodes where they are when it is promoted, and leads the others there in steps", async () => {
    const test = scene();
    await test.publish(mesh("a"));
    await test.publish(mesh("b"), ten);
    test.later(60_000);
    await test.promote();
    expect(await timeline(test, inTen, 0, 1_000, 6_000)).toEqual(["b→b", "b→b", "b→b"]);
    expect(await timeline(test, last, 0, 1_000, 6_000)).toEqual(["ab→a", "ab→b", "b→b"]);
  });

  it("leads its nodes back in steps when it is aborted", async () => {
    const test = scene();
    await test.publish(mesh("a"));
    await test.publish(mesh("b"), ten);
    test.later(60_000);
    await test.abort();
    expect(await timeline(test, inTen, 0, 1_000, 6_000)).toEqual(["ab→b", "ab→a", "a→a"]);
    expect(await timeline(test, last, 0, 1_000, 6_000)).toEqual(["a→a", "a→a", "a→a"]);
  });

  it("moves only those who come to it or leave it when its share changes", async () => {
    const test = scene();
    await test.publish(mesh("a"));
    await test.publish(mesh("b"), ten);
    test.later(60_000);
    const { root = "" } = test.newest()?.canary ?? {};
    await test.canary(root, half);
    expect(await timeline(test, inTen, 0, 1_000, 6_000)).toEqual(["b→b", "b→b", "b→b"]);
    expect(await timeline(test, inHalf, 0, 1_000, 6_000)).toEqual(["ab→a", "ab→b", "b→b"]);
    expect(await timeline(test, last, 0, 1_000, 6_000)).toEqual(["a→a", "a→a", "a→a"]);
    test.later(60_000);
    await test.canary(root, ten);
    expect(await timeline(test, inTen, 0, 1_000, 6_000)).toEqual(["b→b", "b→b", "b→b"]);
    expect(await timeline(test, inHalf, 0, 1_000, 6_000)).toEqual(["ab→b", "ab→a", "a→a"]);
  });

  it("takes nodes by their labels as well, step by step like the others", async () => {
    const test = scene();
    await test.publish(mesh("a"));
    test.later(60_000);
    await test.publish(mesh("b"), { percent: 0, labels: { track: "canary" } });
    const { clusters, routed } = await test.servedTo(last, test.now(), { track: "canary" });
    expect([clusters, routed]).toEqual([["a", "b"], ["a"]]);
    expect(await timeline(test, last, 0)).toEqual(["a→a"]);
  });

  it("leaves nothing behind in HEAD once all nodes have arrived and somebody moves it", async () => {
    const test = scene();
    await test.publish(mesh("a"));
    await test.publish(mesh("b"), ten);
    await test.promote();
    test.later(60_000);
    await test.publish(mesh("c"));
    expect(test.newest()).not.toHaveProperty("cohorts");
  });
});

type Deed =
  | { readonly kind: "publish"; readonly services: readonly string[]; readonly percent: number | undefined }
  | { readonly kind: "share"; readonly percent: number }
  | { readonly kind: "abort" | "promote" | "rollback" | "unpin" };

describe("whatever operators do in whatever order", () => {
  it("never shows any node a route whose cluster it cannot have", async () => {
    const percent = fc.constantFrom(10, 50, 90);
    const deed: fc.Arbitrary<Deed> = fc.oneof(
      fc.record({
        kind: fc.constant("publish" as const),
        services: fc.subarray(["a", "b", "c"], { minLength: 1 }),
        percent: fc.option(percent, { nil: undefined }),
      }),
      fc.record({ kind: fc.constant("share" as const), percent }),
      fc.record({ kind: fc.constantFrom("abort" as const, "promote" as const, "rollback" as const, "unpin" as const) }),
    );
    const deeds = fc.array(fc.record({ deed, afterMs: fc.integer({ min: 1, max: 9_000 }) }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const test = scene();
        await test.publish(mesh("a"));
        const done = async ({ kind, ...more }: Deed) => {
          const root = test.newest()?.canary?.root;
          if (kind === "publish" && "services" in more) {
            const share = more.percent === undefined ? undefined : { percent: more.percent, labels: {} };
            return test.publish(mesh(...more.services), share);
          }
          if (kind === "share" && "percent" in more) {
            return root === undefined ? undefined : test.canary(root, { percent: more.percent ?? 0, labels: {} });
          }
          if (kind === "rollback") return test.rollback(1);
          return kind === "abort" ? test.abort() : kind === "promote" ? test.promote() : test.unpin();
        };
        for (const { deed: next, afterMs } of list) {
          test.later(afterMs);
          // What cannot be done now changes nothing.
          await done(next).catch(() => {});
        }
        const endMs = test.now() + 20_000;
        for (const nodeId of [inTen, inHalf, last]) {
          const served: { readonly clusters: readonly string[]; readonly routed: readonly string[] }[] = [];
          const tickMs = 250;
          for (let at = startMs; at <= endMs; at += tickMs) served.push(await test.servedTo(nodeId, at));
          // A poller's clusters may be as old, or as new, as the time that it takes to ask again.
          const reach = Math.floor(pace.settleMs / 2 / tickMs);
          for (const [i, { routed }] of served.entries()) {
            for (const other of served.slice(Math.max(0, i - reach), i + reach + 1)) {
              expect(routed.filter((name) => !other.clusters.includes(name))).toEqual([]);
            }
          }
        }
      }),
      { numRuns: propertyRuns(40) },
    );
  }, 120_000);
});
