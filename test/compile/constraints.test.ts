import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { weightedShop } from "../integration/weighted-shop.ts";

const patch = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: no-status, namespace: bookshop }
spec:
  configPatches:
    - applyTo: HTTP_ROUTE
      match: { context: SIDECAR_OUTBOUND, routeConfiguration: { name: "9080" } }
      patch: { operation: MERGE, value: { name: mistake, direct_response: { body: { inline_string: mistake } } } }
`;

describe("a patch that gives a route an answer without a status", () => {
  it("is told of with the path to the route, and no table that Envoy refuses is made", async () => {
    const compile = createFileCompiler(defaultWorldOptions);
    const files = await weightedShop(10);
    const before = compile(files, []);
    const { value, diagnostics } = compile([...files, { file: "patch.yaml", text: patch }], []);
    const refused = diagnostics.filter(({ code }) => code === "resource-refused");
    expect(refused.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^routes 9080 was left out: virtualHosts\[\d\]\.routes\[0\]\.directResponse\.status must be/,
      ),
    ]);
    const texts = (world: typeof value) => JSON.stringify(world.classes.map(({ stream }) => stream.routes));
    expect(texts(before.value)).not.toContain("mistake");
    expect(texts(value)).not.toContain("mistake");
  });
});
