import { describe, expect, it } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { writeShardState } from "../../lib/compile/collected/shard-state.ts";
import { behindSources, sourceAges } from "../../lib/compile/collected/source-ages.ts";
import { staleSources } from "../../lib/compile/collected/stale-sources.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { prometheusMetrics } from "../../lib/front/prometheus.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { FakeOrigin, thing } from "../collect/fake-origin.ts";

describe("the age of collected sources, where they are served", () => {
  it("is told by source, also when the collector is gone, and of no source that nobody collects", async () => {
    const store = memoryStore();
    const asOfMs = Date.parse("2026-05-04T12:00:00Z");
    const origin = new FakeOrigin();
    const filled = createCollector({ store, source: "cluster", origin, now: () => asOfMs }).once();
    await origin.following;
    origin.whole("all", [thing("a")]);
    await filled;
    await writeShard(store, "main", [{ file: "a.yaml", text: "{}" }]);
    let isAway = false;
    const metrics = prometheusMetrics({
      sourceAges: async () => {
        if (isAway) throw new Error("the store is away");
        return sourceAges(store, asOfMs + 90_000);
      },
    });
    const lines = async () =>
      (await metrics.render?.())?.text.split("\n").filter((line) => line.startsWith("portolan_source_age_seconds"));
    expect(await lines()).toEqual(['portolan_source_age_seconds{source="cluster"} 90']);
    isAway = true;
    expect(await lines()).toEqual([]);
  });
});

describe("a source of no known age", () => {
  const nowMs = Date.parse("2026-05-04T12:00:00Z");
  const stored = async (asOfMs: number) => {
    const store = memoryStore();
    await writeShard(store, "cluster", [{ file: "a.yaml", text: "{}" }]);
    await writeShardState(store, "cluster", { asOfMs, failure: "" });
    return store;
  };

  it.each([
    ["was never read completely", 0],
    ["has a collector whose clock is an hour ahead", nowMs + 3_600_000],
  ])("is infinitely old for alerts where it %s", async (_, asOfMs) => {
    const store = await stored(asOfMs);
    const metrics = prometheusMetrics({ sourceAges: () => sourceAges(store, nowMs) });
    expect((await metrics.render?.())?.text).toContain('portolan_source_age_seconds{source="cluster"} +Inf\n');
  });

  it("has no time that it is as of, and no message with the year 1970", async () => {
    const store = await stored(0);
    expect(await behindSources(store, nowMs)).toEqual([
      { name: "cluster", failure: "its collector gives no sign of life" },
    ]);
    const [told] = await staleSources(store, ["cluster"], nowMs);
    expect(told?.message).toMatch(/^was never read completely, and its last content is still used: /);
  });
});

describe("sources that are behind", () => {
  it("are those that cannot be read, that gave no sign of life for a minute, and those of a wrong clock", async () => {
    const store = memoryStore();
    const nowMs = Date.parse("2026-05-04T12:00:00Z");
    const states = { fresh: [5, ""], silent: [90, ""], ahead: [-90, ""], failing: [5, "it answers 403"] } as const;
    for (const [name, [ageSeconds, failure]] of Object.entries(states)) {
      await writeShard(store, name, [{ file: "a.yaml", text: "{}" }]);
      await writeShardState(store, name, { asOfMs: nowMs - ageSeconds * 1_000, failure });
    }
    await writeShard(store, "pushed", [{ file: "a.yaml", text: "{}" }]);
    const behind = await behindSources(store, nowMs);
    expect(behind.map(({ name, failure }) => `${name}: ${failure}`)).toEqual([
      "ahead: its age is not known: the clock of its collector, or of this server, is wrong",
      "failing: it answers 403",
      "silent: its collector gives no sign of life",
    ]);
  });
});
