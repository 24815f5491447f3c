import { describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../../lib/compile/slices/compile-slice.ts";
import type { FanOut } from "../../../lib/compile/slices/fan-out.ts";
import type { CompileObserver } from "../../../lib/compile/telemetry/observer.ts";
import type { RecordedSettings } from "../../../lib/compile/world/recorded-settings.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { editedFiles, folderEdits } from "../../bench/folder-edits.ts";
import { foldersFiles } from "../../bench/mesh-folder.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";
import { newCoverage } from "../../fuzz/edits/coverage.ts";
import { type Folder, filesOf } from "../../fuzz/edits/folder.ts";
import { gatherMaterials, type Materials } from "../../fuzz/edits/materials.ts";
import { randomEdit } from "../../fuzz/edits/random-edit.ts";
import { createDice } from "../../fuzz/objects/dice.ts";
import { randomSource } from "../../fuzz/objects/random-source.ts";
import { soakRuns, soakSeed } from "../../soak-options.ts";

/** How a world is compiled, and by which build: without one its root says nothing of how it was made. */
interface Way {
  readonly change: Partial<RecordedSettings>;
  readonly build?: string;
}

/** Compiles a store's sources in slices, one compiler for each; every third time all of them begin cold. Those of 3 or 16 remember nothing. */
function inSlices(most: number, { change, build }: Way) {
  const store = memoryStore();
  let compilers: readonly ReturnType<typeof createSliceCompiler>[] = [];
  let dispatched = 0;
  const fanOut: FanOut = {
    most,
    sliceBytes: 1,
    waitMs: 10_000,
    async dispatch(job) {
      dispatched += 1;
      await compilers[job.index]?.(job);
    },
  };
  const recompile = createRecompiler({ store, change, build, fanOut, now: () => 0 });
  return {
    store,
    async recompile(round: number) {
      if (round % 3 === 0)
        compilers = Array.from({ length: most }, () =>
          createSliceCompiler(store, { remembers: most !== 3 && most !== 16, build }),
        );
      return { ...(await recompile()), dispatched };
    },
  };
}

/** A random world of several namespaces, and what it is after each of some edits. */
function foldersFrom(seed: number, materials: Materials, edits: number): readonly Folder[] {
  const dice = createDice(seed);
  const { meshConfig, manifests } = randomSource(seed);
  const objects = manifests.map((manifest) => ({ file: "a.yaml", manifest }));
  const first: Folder = { meshConfig, networks: undefined, objects };
  const folders: Folder[] = [first];
  const coverage = newCoverage();
  for (let edit = 0; edit < edits; edit += 1) {
    const last = folders.at(-1) ?? first;
    folders.push(randomEdit({ dice, materials, coverage, history: folders, targets: [] }, last).folder);
  }
  return folders;
}

/** Hears which stages a compile has. */
function stageNames() {
  const stages: string[] = [];
  const observer: CompileObserver = {
    asked() {},
    begin: () => ({
      stage(name) {
        stages.push(name);
        return () => {};
      },
      done() {},
      failed() {},
    }),
  };
  return { stages, observer };
}

const materials = gatherMaterials(10);
const seeds = Array.from({ length: soakRuns(1, 3) }, (_, at) => soakSeed(1) + at);

describe("a world that is compiled in slices", () => {
  const ways: readonly (readonly [number, Way])[] = [
    [2, { change: {}, build: "this one" }],
    [3, { change: { legacyApi: "0.8" } }],
    [5, { change: { binaryForms: true } }],
    [16, { change: { certificates: "files" }, build: "this one" }],
  ];
  it.each(ways)(
    "has the root that it has as a whole, byte for byte, over edits, in %i slices",
    async (most, way) => {
      for (const seed of seeds) {
        const whole = memoryStore();
        const compileWhole = createRecompiler({ store: whole, ...way, now: () => 0 });
        const sliced = inSlices(most, way);
        let before = 0;
        for (const [round, folder] of foldersFrom(100 * most + seed, materials, 6).entries()) {
          const files = filesOf(folder);
          for (const store of [whole, sliced.store]) await writeShard(store, "main", files, { allowEmpty: true });
          const wanted = await compileWhole();
          const { dispatched, ...told } = await sliced.recompile(round);
          expect([seed, round, told]).toEqual([seed, round, wanted]);
          // All of them, or none where this very world was compiled before.
          expect([0, most]).toContain(dispatched - before);
          before = dispatched;
        }
        expect(before).toBeGreaterThan(most);
      }
    },
    180_000,
  );
});

describe("a world that there is little room for", () => {
  const ways: readonly (readonly [number, Way])[] = [
    [1, { change: {}, build: "this one" }],
    [2, { change: { legacyApi: "0.8" } }],
    [3, { change: { binaryForms: true }, build: "this one" }],
    [4, { change: { certificates: "files" } }],
  ];
  it.each(ways)(
    "has the root that it has as a whole, byte for byte, over edits, at %i KiB a slice",
    async (kib, way) => {
      for (const seed of seeds) {
        const [whole, small] = [memoryStore(), memoryStore()];
        const compileWhole = createRecompiler({ store: whole, ...way, now: () => 0 });
        const memoryLimits = { wholeBytes: 0, sliceBytes: kib * 1024 };
        const compileSmall = createRecompiler({ store: small, ...way, memoryLimits, now: () => 0 });
        for (const [round, folder] of foldersFrom(1_000 * kib + seed, materials, 6).entries()) {
          for (const store of [whole, small]) await writeShard(store, "main", filesOf(folder), { allowEmpty: true });
          expect([seed, round, await compileSmall()]).toEqual([seed, round, await compileWhole()]);
        }
      }
    },
    180_000,
  );

  it("is compiled and published all the same where the newest root is lost or damaged", async () => {
    const store = memoryStore();
    const recompile = createRecompiler({
      store,
      build: "this one",
      memoryLimits: { wholeBytes: 0, sliceBytes: 2_048 },
    });
    const [first, second] = foldersFrom(11, materials, 1);
    if (first === undefined || second === undefined) throw new Error("there are two folders");
    for (const harm of ["deleted", "overwritten"]) {
      await writeShard(store, "main", filesOf(first));
      const { version } = await recompile();
      if (harm === "deleted") await store.delete(blobKey(version));
      else await store.put(blobKey(version), new TextEncoder().encode("{}"));
      await writeShard(store, "main", filesOf(second));
      expect(await recompile()).toMatchObject({ kind: "published" });
    }
  });

  it("is made as one where a change leaves most of it as it was, to the same root", async () => {
    const [whole, small] = [memoryStore(), memoryStore()];
    const { stages, observer } = stageNames();
    const files = foldersFiles(syntheticMesh(20).text);
    const bytes = files.reduce((sum, { text }) => sum + text.length, 0);
    const memoryLimits = { wholeBytes: 0, sliceBytes: Math.ceil(bytes / 4) };
    const compileWhole = createRecompiler({ store: whole, build: "this one", now: () => 0 });
    const compileSmall = createRecompiler({ store: small, build: "this one", memoryLimits, observer, now: () => 0 });
    const edits = [folderEdits["virtual-service"], folderEdits.endpoint];
    for (const [round, edit] of [undefined, ...edits].entries()) {
      const edited = edit === undefined ? files : editedFiles(files, "app-0", (text) => edit(text, round));
      for (const store of [whole, small]) await writeShard(store, "main", edited);
      stages.length = 0;
      expect(await compileSmall()).toEqual(await compileWhole());
      // What belongs to no class and four slices, or all at once. The second change is of both fields.
      expect(stages.filter((name) => name === "generate").length).toBe(round === 1 ? 1 : 5);
    }
  });

  it("is held as a whole while it is small, and cut up when it has grown", async () => {
    const store = memoryStore();
    const { stages, observer } = stageNames();
    const [first, ...more] = foldersFrom(7, materials, 1);
    const files = filesOf(more[0] ?? first ?? { meshConfig: undefined, networks: undefined, objects: [] });
    const bytes = files.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
    const memoryLimits = { wholeBytes: bytes, sliceBytes: bytes };
    const recompile = createRecompiler({ store, memoryLimits, observer, now: () => 0 });
    await writeShard(store, "main", files);
    await recompile();
    expect(stages).not.toContain("join");
    await writeShard(store, "main", [...files, { file: "more.yaml", text: `# ${"x".repeat(100)}\n` }]);
    await recompile();
    expect(stages).toContain("join");
  });
});
