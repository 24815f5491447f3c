import { describe, expect, it } from "vitest";
import { soakSeed } from "../soak-options.ts";
import { judge } from "./judge.ts";

/** `FUZZ_WORLDS` for more, `SOAK_SEED` to begin elsewhere; `npm run fuzz` shrinks what it finds. */
const worlds = Number(process.env.FUZZ_WORLDS ?? 200);
const start = soakSeed(1);
const batchSize = 40;

describe(`worlds of every kind of object, from seed ${start} on`, () => {
  const firsts = Array.from({ length: Math.ceil(worlds / batchSize) }, (_, batch) => start + batch * batchSize);

  it.each(firsts)(
    "keep the laws of a compile and are taken by Envoy, from seed %i on",
    (first) => {
      const size = Math.min(batchSize, start + worlds - first);
      expect(judge(Array.from({ length: size }, (_, index) => first + index))).toEqual([]);
    },
    120_000,
  );
});
