import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world-of.ts";
import { weightedShop } from "../integration/weighted-shop.ts";

const rule = `apiVersion: config.istio.io/v1alpha2
kind: RouteRule
metadata: { name: reviews, namespace: bookshop }
spec: { destination: { name: reviews }, route: [{ labels: { version: v1 } }] }
`;

describe("the answers of the v1 API", () => {
  const settings = { ...defaultWorldOptions, legacyApi: "0.8" } as const;

  it("are the same object after a change of what their release did not know, and of nothing else", async () => {
    const compile = createFileCompiler(settings);
    const before = compile(await weightedShop(10), []).value.legacy;
    const other = compile(await weightedShop(11), []).value.legacy;
    expect(before).toBeDefined();
    expect(other).toBe(before);
    const ruled = compile([...(await weightedShop(11)), { file: "rule.yaml", text: rule }], []).value.legacy;
    expect(ruled).not.toEqual(before);
    const shop = (await weightedShop(11)).map(({ file, text }) => ({
      file,
      text: text.replaceAll("127.0.0.13", "127.0.0.99"),
    }));
    const moved = compile(shop, []).value.legacy;
    expect(moved).not.toEqual(before);
    expect(moved).toEqual(createFileCompiler(settings)(shop, []).value.legacy);
  });

  it("of release 0.7 follow a change of a VirtualService", async () => {
    const compile = createFileCompiler({ ...defaultWorldOptions, legacyApi: "0.7" });
    const before = compile(await weightedShop(10), []).value.legacy;
    const after = compile(await weightedShop(11), []).value.legacy;
    expect(after).toEqual(
      createFileCompiler({ ...defaultWorldOptions, legacyApi: "0.7" })(await weightedShop(11), []).value.legacy,
    );
    expect(before).toBeDefined();
  });
});
