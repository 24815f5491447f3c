import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import type { ResourceType } from "../../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { propertyRuns } from "../../soak-options.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const pace = { settleMs: 3_000, retentionMs: 5_000 };
/** A poll comes at least so often. */
const loopMs = 1_000;
const tickMs = 250;

interface Discovery {
  readonly version_info: string;
  readonly resources: readonly { readonly name: string; readonly content: string }[];
}

/** What happens in one tick. */
const tick = fc.record({
  services: fc.option(fc.subarray(["a", "b", "c", "d"], { minLength: 1 }), { nil: undefined, freq: 4 }),
  /** Services that are there, and nobody routes to. */
  silent: fc.subarray(["a", "b", "c", "d"]),
  polls: fc.subarray(["clusters", "routes"] as const),
  /** The front loses what it knows. */
  starts: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

describe("an Envoy that polls whenever it likes, at fronts that come and go", () => {
  it("never has a route whose cluster it has not, and has the newest of all within the times of a switch", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tick, { minLength: 10, maxLength: 60 }), async (ticks) => {
        let nowMs = 1_000_000;
        const now = () => nowMs;
        const store = memoryStore(now);
        const publisher = createPublisher(store, { pace, now });
        let { poll } = testFront({ store, now });
        const versions = new Map<ResourceType, string>();
        const has = new Map<ResourceType, string>();
        const askedMs = new Map<ResourceType, number>();
        let newest = "a";
        let publishedMs = 0;
        const publish = async (services: readonly string[], silent: readonly string[]) => {
          const clusters = Object.fromEntries([...services, ...silent].map((name) => [name, "1"]));
          // A class is called by what it selects.
          const classId = `web-${services.join("-")}`;
          const world = worldOf(
            { [classId]: { clusters, routes: { "80": services.join(" ") } } },
            { nodes: [{ keys: ["web.default"], classId }] },
          );
          await publisher.publish(world, await publisher.head());
          newest = services.join(" ");
          publishedMs = nowMs;
        };
        const ask = async (type: "clusters" | "routes") => {
          askedMs.set(type, nowMs);
          const version = versions.get(type);
          const names = type === "routes" ? { names: ["80"] } : {};
          const response = await poll(type, pollBody(type, nodeOf("web"), { ...names, ...(version && { version }) }));
          if (response.status === 304) return;
          expect(response.status).toBe(200);
          const { version_info, resources }: Discovery = JSON.parse(await response.text());
          versions.set(type, version_info);
          has.set(type, resources.map(({ name, content }) => (type === "routes" ? content : name)).join(" "));
        };
        const isSound = () => {
          const clusters = new Set(has.get("clusters")?.split(" "));
          expect((has.get("routes") ?? "").split(" ").filter((name) => name !== "" && !clusters.has(name))).toEqual([]);
        };
        await publish(["a"], []);
        for (const { services, silent, polls, starts } of ticks) {
          nowMs += tickMs;
          if (services !== undefined) await publish(services, silent);
          if (starts) ({ poll } = testFront({ store, now }));
          for (const type of ["clusters", "routes"] as const) {
            const isLate = nowMs - (askedMs.get(type) ?? 0) >= loopMs;
            if (!polls.includes(type) && !isLate) continue;
            await ask(type);
            isSound();
          }
        }
        while (nowMs - publishedMs <= 2 * pace.settleMs + loopMs) {
          nowMs += loopMs;
          for (const type of ["clusters", "routes"] as const) await ask(type);
          isSound();
        }
        expect(has.get("routes")).toBe(newest);
      }),
      { numRuns: propertyRuns(30), interruptAfterTimeLimit: 60_000 },
    );
  }, 120_000);
});
