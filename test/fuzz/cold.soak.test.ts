import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import type { WorldOptions } from "../../lib/compile/world/world-of.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { resourceTypes, shapes } from "../../lib/snapshot/resource-type.ts";
import { storedForm } from "../../lib/snapshot/reuse/stored-part.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { soakSeed } from "../soak-options.ts";
import { newCoverage } from "./edits/coverage.ts";
import { type Folder, filesOf } from "./edits/folder.ts";
import { gatherMaterials } from "./edits/materials.ts";
import { randomEdit } from "./edits/random-edit.ts";
import { readsOf } from "./edits/reads.ts";
import { firstFolder, randomOptions } from "./edits/sequence.ts";
import { type Target, targetsOf } from "./edits/targets.ts";
import { createDice } from "./objects/dice.ts";

/** `FUZZ_COLD` for more sequences, `SOAK_SEED` to begin elsewhere. */
const sequences = Number(process.env.FUZZ_COLD ?? 30);
const start = soakSeed(1);
const edits = 3;
const sequencesEach = 10;
const build = "the compiler that is tested";

describe(`a process that starts cold, over ${sequences} sequences of changes from seed ${start} on`, () => {
  const materials = gatherMaterials(30);
  const firsts = Array.from({ length: Math.ceil(sequences / sequencesEach) }, (_, at) => start + at * sequencesEach);
  let taken = 0;

  it.each(firsts)(
    "publishes what a warm one does, and one that finds an empty store, from seed %i on",
    async (first) => {
      for (let seed = first; seed < first + sequencesEach; seed += 1) taken += await checkSequence(seed, materials);
    },
    240_000,
  );

  it("takes much of it from the store", () => {
    expect(taken).toBeGreaterThan(sequences);
  });
});

/** @returns how many lists the cold processes took as they lay there */
async function checkSequence(seed: number, materials: ReturnType<typeof gatherMaterials>): Promise<number> {
  const dice = createDice(seed);
  const options = randomOptions(dice, seed);
  const coverage = newCoverage();
  const warm = publisherInto(memoryStore(), options);
  const shared = memoryStore();
  const left = memoryStore();
  const resumed = publisherInto(left, options);
  let folder = firstFolder(dice, materials);
  const history: Folder[] = [folder];
  let taken = 0;
  for (let step = 0; step <= edits; step += 1) {
    const [expected, kept, cold, goneOn] = [
      await publisherInto(memoryStore(), options)(folder),
      await warm(folder),
      await publisherInto(shared, options)(folder),
      // Begins where another process has left, and goes on with its own memory.
      await (step === 0 ? publisherInto(left, options) : resumed)(folder),
    ];
    const where = `seed ${seed}, step ${step}`;
    expect([where, kept.root, kept.diagnostics]).toEqual([where, expected.root, expected.diagnostics]);
    expect([where, cold.root, cold.diagnostics]).toEqual([where, expected.root, expected.diagnostics]);
    expect([where, goneOn.root, goneOn.diagnostics]).toEqual([where, expected.root, expected.diagnostics]);
    taken += cold.taken;
    const targets: readonly Target[] = targetsOf(folder, readsOf(folder, options));
    folder = randomEdit({ dice, materials, coverage, history, targets }, folder).folder;
    history.push(folder);
  }
  return taken;
}

interface PublishedFolder {
  readonly root: string;
  readonly diagnostics: unknown;
  readonly taken: number;
}

/** A process over a store, which is given one folder after the other. */
function publisherInto(store: ReturnType<typeof memoryStore>, world: WorldOptions) {
  const recompile = createWorldRecompiler({ store, sources: ["main"], world, build });
  return async (folder: Folder): Promise<PublishedFolder> => {
    await writeShard(store, "main", filesOf(folder), { allowEmpty: true });
    try {
      const { version, diagnostics, compiled } = await recompile();
      return { root: version, diagnostics, taken: takenIn(compiled.value) };
    } catch (cause) {
      // Whatever cannot be published cannot be by all of them.
      if (!(cause instanceof PortolanError)) throw cause;
      return { root: "", diagnostics: cause.message, taken: 0 };
    }
  };
}

const takenIn = ({ classes }: CompiledWorld): number =>
  classes
    .flatMap((one) => shapes.flatMap((shape) => resourceTypes.flatMap((type) => one[shape][type] ?? [])))
    .filter((part) => storedForm(part) !== undefined).length;
