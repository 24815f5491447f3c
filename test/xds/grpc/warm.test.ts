import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "../../../lib/compile/compile.ts";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { randomWorld, worldOf } from "../../mesh/random-world.ts";
import { propertyRuns } from "../../soak-options.ts";

describe("a compile of gRPC programs", () => {
  it("equals a fresh one after any change, and has classes of theirs beside those of Envoys", () => {
    fc.assert(
      fc.property(randomWorld, fc.nat(), fc.constantFrom("shared", "istio"), (random, at, compat) => {
        const proxies = random.proxies.map((proxy, place) =>
          place % 2 === 0 && proxy.type === "sidecar" ? { ...proxy, metadata: { GENERATOR: "grpc" } } : proxy,
        );
        const before = worldOf({ ...random, proxies }, compat);
        const configs = before.configs.filter((_, place) => place !== at % Math.max(before.configs.length, 1));
        const memo = createMemo();
        compile(before, [], memo);
        const after = { ...before, configs };
        const warm = compile(after, [], memo).value;
        expect(warm).toEqual(compile(after, [], noMemo).value);
        expect(warm.classes.some(({ id }) => id.startsWith("grpc-"))).toBe(true);
        expect(warm.diagnostics.filter(({ code }) => code === "resource-refused")).toEqual([]);
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
