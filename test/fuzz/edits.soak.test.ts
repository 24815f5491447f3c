import { describe, expect, it } from "vitest";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { soakSeed } from "../soak-options.ts";
import { newCoverage } from "./edits/coverage.ts";
import type { Folder } from "./edits/folder.ts";
import { kindOf } from "./edits/kinds.ts";
import { kubernetesSchemas } from "./edits/kubernetes-shapes.ts";
import { gatherMaterials } from "./edits/materials.ts";
import { rareMeshConfigs, rareNetworks, rareObjects } from "./edits/rare-objects.ts";
import { readsOf } from "./edits/reads.ts";
import { failureText } from "./edits/report.ts";
import { checkSequence } from "./edits/sequence.ts";
import type { Shape } from "./edits/shape.ts";

/** `FUZZ_EDITS` for more, `SOAK_SEED` to begin elsewhere; `npm run fuzz -- --edits` says which fields were edited, too. */
const edits = Number(process.env.FUZZ_EDITS ?? 3000);
const start = soakSeed(1);
const steps = 75;
const sequencesEach = 4;

describe(`a warm compiler, through ${edits} edits from seed ${start} on`, () => {
  const materials = gatherMaterials(60);
  const coverage = newCoverage();
  const firsts = Array.from(
    { length: Math.ceil(edits / steps / sequencesEach) },
    (_, batch) => start + batch * sequencesEach,
  );

  it.each(firsts)(
    "answers as a fresh one, from seed %i on",
    (first) => {
      const seeds = Array.from({ length: sequencesEach }, (_, index) => first + index);
      const failures = seeds.flatMap((seed) => checkSequence(seed, steps, materials, coverage));
      // The first says enough: making one small takes a while.
      expect(failures.slice(0, 1).map(failureText)).toEqual([]);
    },
    240_000,
  );
});

const nothing: Folder = { meshConfig: undefined, networks: undefined, objects: [] };

describe("the fields that edits know", () => {
  it("are all that a compile reads of Kubernetes' objects", () => {
    const { cases, applications } = gatherMaterials(3);
    const byHand = { objects: rareObjects.map((manifest) => ({ file: "a.yaml", manifest })) };
    const folders = [...cases.filter((_, at) => at % 12 === 0), ...applications, { ...nothing, ...byHand }];
    const unknown = folders.flatMap((folder) =>
      [...readsOf(folder, defaultWorldOptions).objects].flatMap(([{ manifest }, paths]) => {
        const kind = kindOf(manifest);
        if (kind === undefined || !kubernetesSchemas.some(([, name]) => name === kind.kind)) return [];
        return paths.filter((path) => !isKnown(kind.shape, path)).map((path) => `${kind.name} ${path.join(".")}`);
      }),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });
});

/** What an object is called is no field of its own. */
const envelope: ReadonlySet<string | undefined> = new Set(["apiVersion", "kind", "metadata", "origin"]);

function isKnown(shape: Shape, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined || step === "*" || step === "toJSON" || envelope.has(step)) return true;
  switch (shape.kind) {
    case "message": {
      const field = shape.fields.get(step);
      return field !== undefined && isKnown(field, rest);
    }
    case "list":
      return isKnown(shape.element, rest);
    case "map":
      return isKnown(shape.value, rest);
    default:
      return false;
  }
}

describe("objects written by hand for the edits", () => {
  it("are accepted", () => {
    const files = [
      ...rareObjects.map((object) => ({ file: "object.yaml", text: JSON.stringify(object) })),
      ...rareMeshConfigs.map((config) => ({ file: "mesh.yaml", text: JSON.stringify(config) })),
      ...rareNetworks.map((networks) => ({ file: "networks.yaml", text: JSON.stringify(networks) })),
    ];
    const refused = files
      .flatMap((file) => readFiles([file]).diagnostics)
      .filter(({ severity }) => severity === "error");
    expect(refused).toEqual([]);
  });
});
