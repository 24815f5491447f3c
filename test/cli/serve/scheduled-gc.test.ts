import { describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { runScheduledGc } from "../../../lib/cli/serve/scheduled-gc.ts";
import { gcGraceMs } from "../../../lib/compile/garbage.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { allOf } from "../../all-of.ts";
import { worldOf } from "../../snapshot/worlds.ts";

const minuteMs = 60_000;

/** A store with publications, and the schedule on a clock that each pause moves. */
function scene(change: (store: ObjectStore) => ObjectStore = (store) => store) {
  let nowMs = Date.UTC(2026, 0, 1);
  const now = () => nowMs;
  const store = memoryStore(now);
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, now });
  const publish = async (content: string) =>
    publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
  const pauses: number[] = [];
  const lines: string[] = [];
  const say = (level: string) => (fields: object, text: string) =>
    lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
  return {
    store,
    publish,
    pauses,
    lines,
    blobs: async () => (await allOf(store.list("blobs/"))).length,
    /** @param during is called in each pause with its number, from 1 */
    async run(
      turns: number,
      gc: { everyMinutes?: number; keepPublications?: number },
      during = async (_at: number) => {},
    ) {
      const stop = new AbortController();
      await runScheduledGc({
        store: change(store),
        settings: { gc },
        trust: {},
        log: { info: say("info"), warn: say("warn"), error: say("error") },
        signal: stop.signal,
        now,
        pace: {
          async pause(milliseconds) {
            pauses.push(milliseconds);
            nowMs += milliseconds;
            await during(pauses.length);
            if (pauses.length >= turns) stop.abort();
          },
        },
      });
    },
  };
}

describe("serve's garbage collection", () => {
  it("deletes what nothing leads to, in the second run after it was left", async () => {
    const { publish, blobs, run, pauses, store, lines } = scene();
    for (const content of ["1", "2", "3", "4"]) await publish(content);
    const before = await blobs();
    await run(4, { keepPublications: 1 });
    expect(pauses).toEqual([5 * minuteMs, gcGraceMs, gcGraceMs, gcGraceMs]);
    expect(await blobs()).toBeLessThan(before);
    expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
    expect(lines.filter((line) => line.startsWith("info garbage collected"))).toHaveLength(3);
  });

  it("keeps what can be rolled back to, and leaves publishes beside it alone", async () => {
    const { publish, blobs, run, store } = scene();
    await publish("1");
    await run(6, {}, async (at) => {
      await publish(`${at}`);
    });
    const before = await blobs();
    expect((await fsck(store)).problems).toEqual([]);
    await run(8, {});
    expect(await blobs()).toBe(before);
  });

  it("is at another pace, or not at all, where the settings say so", async () => {
    const other = scene();
    await other.publish("1");
    await other.run(3, { everyMinutes: 90 });
    expect(other.pauses).toEqual([5 * minuteMs, 90 * minuteMs, 90 * minuteMs]);
    const often = scene();
    await often.publish("1");
    await often.run(2, { everyMinutes: 1 });
    expect(often.pauses).toEqual([minuteMs, minuteMs]);
    const never = scene();
    await never.run(1, { everyMinutes: 0 });
    expect(never.pauses).toEqual([]);
  });

  it("goes on after a run that has failed, and says so", async () => {
    let fails = 1;
    const { publish, run, lines, pauses } = scene((store) => ({
      ...store,
      list(prefix, after) {
        if (prefix === "blobs/" && fails > 0) {
          fails -= 1;
          throw new PortolanError("no bucket");
        }
        return store.list(prefix, after);
      },
    }));
    await publish("1");
    await run(3, {});
    expect(lines[0]).toContain("error garbage cannot be collected");
    expect(lines[0]).toContain("no bucket");
    expect(lines[1]).toContain("info garbage collected");
    expect(pauses).toHaveLength(3);
  });

  it("goes on after an error of its own, whose place it logs", async () => {
    let fails = 1;
    const { publish, run, lines } = scene((store) => ({
      ...store,
      list(prefix, after) {
        if (prefix === "blobs/" && fails > 0) {
          fails -= 1;
          throw new TypeError("x is not iterable");
        }
        return store.list(prefix, after);
      },
    }));
    await publish("1");
    await run(3, {});
    expect(lines[0]).toContain("error garbage cannot be collected");
    expect(lines[0]).toContain("scheduled-gc.test.ts");
    expect(lines[1]).toContain("info garbage collected");
  });

  it("warns of a ledger that it had to write anew, and goes on", async () => {
    const { publish, run, store, lines } = scene();
    await publish("1");
    await store.put("gc/ledger", new Uint8Array());
    await run(3, {});
    expect(lines[0]).toContain("warn gc/ledger was empty or held something else");
    expect(lines.slice(1).every((line) => line.startsWith("info garbage collected"))).toBe(true);
  });
});
