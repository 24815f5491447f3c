import { describe, expect, it } from "vitest";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

const service = (namespace: string, port: number) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", ...(namespace === "+" ? { namespace: "default" } : {}) },
    spec: { clusterIP: "10.0.0.1", ports: [{ name: "http", port }] },
  });

/** Three files that hold one Service, each of them with its namespace (`+`), without one (`-`), or not at all (`0`). */
const filesOf = (spellings: string) =>
  [...spellings].flatMap((spelling, at) =>
    spelling === "0" ? [] : [{ file: `${"amz"[at]}.yaml`, text: service(spelling, 81 + at) }],
  );

async function rootsOf(...steps: readonly string[]): Promise<readonly string[]> {
  const store = memoryStore();
  const [write, recompile] = [createShardWriter(store, "main"), createWorldRecompiler({ store })];
  const roots: string[] = [];
  for (const step of steps) {
    await write(filesOf(step), { allowEmpty: true });
    roots.push((await recompile()).version);
  }
  return roots;
}

describe("an object with its namespace and without", () => {
  it.each([
    ["0+-", "-+-"],
    ["0-+", "+-+"],
    ["++-", "-+-"],
    ["+-+", "0-+"],
    ["-+-", "0+-"],
    ["--+", "+-+"],
    ["-0+", "00+"],
    ["00+", "-0+"],
  ])("is one object, whatever was there before: %s to %s", async (before, after) => {
    const [, warm] = await rootsOf(before, after);
    expect([warm]).toEqual(await rootsOf(after));
  });
});
