import { expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { programPods, programService, programSlices, weights } from "../e2e/grpc-shop.ts";

it("what gRPC programs read is not held against the constraints of Envoy, which they do not have", () => {
  const pods = [{ name: "v1", address: "127.0.0.11", port: 7071 }];
  const text = programService("echo", "10.96.0.1") + programPods("echo", pods) + programSlices("echo", pods);
  const { value, diagnostics } = createFileCompiler(defaultWorldOptions)(
    [{ file: "shop.yaml", text: text + weights("echo", 100) }],
    [],
  );
  expect(diagnostics.filter(({ code }) => code === "resource-refused")).toEqual([]);
  const names = value.classes.map(({ stream }) => resourcesIn(stream.listeners).map(({ name }) => name));
  for (const listeners of names) expect(listeners).toContain("echo.shop:7070");
});
