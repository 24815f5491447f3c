import { describe, expect, it, vi } from "vitest";
import { hashOf } from "../../../lib/base/blob.ts";
import { compile } from "../../../lib/compile/compile.ts";
import { EvictableText, messageText } from "../../../lib/compile/encode/evictable-text.ts";
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { type CompiledResource, type CompiledShape, resourcesIn } from "../../../lib/snapshot/compiled.ts";
import { retain, withRetained } from "../../../lib/snapshot/retained.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { foldersFiles } from "../../bench/mesh-folder.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";
import { collectAll } from "../../collect-garbage.ts";
import { loadCase } from "../../conformance/load-case.ts";
import { casesOf } from "../../conformance/suites.ts";

/** What was looked at in this turn of the event loop is kept until its end. */
async function collected(): Promise<void> {
  await new Promise(setImmediate);
  collectAll();
}

const name = "x".repeat(4096);

/** A long text, and how often it was made. */
function counted(): { readonly written: EvictableText; readonly made: () => number } {
  let made = 0;
  const json = {
    get name() {
      made += 1;
      return name;
    },
  };
  return { written: new EvictableText("clusters", json), made: () => made };
}

/** How many long texts of messages a mesh takes. */
async function longTextsMade(onCompiled: () => void): Promise<number> {
  const store = memoryStore();
  await writeShard(store, "main", foldersFiles(syntheticMesh(20).text));
  const recompile = createWorldRecompiler({ store, onCompiled });
  const stringify = vi.spyOn(JSON, "stringify");
  await recompile();
  const texts: readonly unknown[] = stringify.mock.results.map(({ value }) => value);
  stringify.mockRestore();
  const isLong = (text: unknown): boolean =>
    typeof text === "string" && text.startsWith('{"@type":') && text.length > name.length / 2;
  return texts.filter(isLong).length;
}

describe("a text that is made again", () => {
  it("is held as long as it is used, and made anew after a collection", async () => {
    const { written, made } = counted();
    expect([written.text, made()]).toEqual([messageText("clusters", { name }), 1]);
    await collected();
    expect([written.text, written.text, made()]).toEqual([...Array(2).fill(messageText("clusters", { name })), 2]);
  });

  it("is held until the last compile that is under way has ended, well or not", async () => {
    const second = Promise.withResolvers<void>();
    const other = withRetained(() => second.promise);
    const { written, made } = await withRetained(async () => counted());
    const failed = withRetained(() => Promise.reject(new Error("no")));
    await expect(failed).rejects.toThrow("no");
    await collected();
    expect([written.text.length, made()]).toEqual([messageText("clusters", { name }).length, 1]);
    second.resolve();
    await other;
    await collected();
    expect([written.text.length, made()]).toEqual([messageText("clusters", { name }).length, 2]);
  });

  it("is not held where so much is held already", async () => {
    await withRetained(async () => {
      retain({}, 64 * 1024 * 1024);
      const { written, made } = counted();
      await collected();
      expect([written.text.length, made()]).toEqual([messageText("clusters", { name }).length, 2]);
    });
  });

  it("is made once from files to a published root, whatever is collected meanwhile", async () => {
    const undisturbed = await longTextsMade(() => {});
    expect(undisturbed).toBeGreaterThan(50);
    expect(await longTextsMade(collectAll)).toBe(undisturbed);
  });

  it("is held where it is short", async () => {
    const written = new EvictableText("clusters", {}, ["a", "b"].join(""));
    await collected();
    expect(written.text).toBe("ab");
  });

  it("is the same for every resource of every case, in both shapes", async () => {
    const resources = ["v3", "v3-samples", "gateway-api"]
      .flatMap((suite) => casesOf(suite))
      .flatMap(({ path }) => compile(loadCase(path), [], createMemo()).value.classes)
      .flatMap(({ stream, poll }) => [...whole(stream), ...whole(poll)]);
    await collected();
    const other = resources.filter(({ text, version }) => hashOf(text) !== version);
    expect(other.map(({ name }) => name)).toEqual([]);
    expect(resources.filter(({ text }) => text.length > 1024).length).toBeGreaterThan(1000);
  });
});

/** Without those of many runs, whose versions are made of theirs. */
const whole = (shape: CompiledShape): readonly CompiledResource[] =>
  Object.values(shape).flatMap((list) => resourcesIn(list).filter(({ runLists }) => runLists === undefined));
