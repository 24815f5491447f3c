import { describe, expect, it } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { createOtherWriters } from "../../lib/collect/other-writers.ts";
import { readShardState } from "../../lib/compile/collected/shard-state.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { FakeOrigin, thing } from "./fake-origin.ts";

const pace = { pause: () => new Promise<void>((resolve) => setImmediate(resolve)), backOff: () => 0 };

async function collecting(store: ObjectStore, writer: string) {
  const told: string[] = [];
  const origin = new FakeOrigin();
  origin.which = "cluster 8d1f";
  const stop = new AbortController();
  const shared = (other: string) => void told.push(other);
  const running = createCollector({ store, source: "cluster", origin, gatherMs: 0, pace, writer, shared }).run(
    stop.signal,
  );
  await origin.following;
  origin.whole("all", [thing("a")]);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { told, end };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5000; turn += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("never came to hold");
}

describe("two collectors of one origin on one source", () => {
  it("find each other, say so beside the shard, and until one of them ends", async () => {
    const store = memoryStore();
    const east = await collecting(store, "process 7 on east");
    const west = await collecting(store, "process 7 on west");
    await until(() => east.told[0] === "process 7 on west" && west.told[0] === "process 7 on east");
    await until(async () =>
      /process 7 on (east|west)/.test((await readShardState(store, "cluster"))?.otherWriter ?? ""),
    );
    await west.end();
    await until(() => east.told.at(-1) === "");
    await until(async () => (await readShardState(store, "cluster"))?.otherWriter === undefined);
    expect(await readShardState(store, "cluster")).toMatchObject({ writer: "process 7 on east", failure: "" });
    await east.end();
  });
});

describe("another process's state", () => {
  it("is the last word of the process before where it lies there at the start, or once more as that one ends", () => {
    const others = createOtherWriters("new");
    expect(["old", "new", "old", "new", "new"].map((writer) => others.see(writer))).toEqual(["", "", "", "", ""]);
  });

  it("means two collectors when it comes again and again, until there were three of one's own in a row", () => {
    const others = createOtherWriters("a");
    const seen = [undefined, "b", "b", "a", "b", "a", "a", "a"].map((writer) => others.see(writer));
    expect(seen).toEqual(["", "", "b", "b", "b", "b", "b", ""]);
  });
});
