import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { holes } from "../../lib/legacy/template.ts";
import { addressClassesOf } from "../../lib/v1/address-classes.ts";
import { classDocuments } from "../../lib/v1/class-documents.ts";
import { legacyWorldOf } from "../../lib/v1/legacy-world-of.ts";
import { outboundTables } from "../../lib/v1/routes/rds.ts";
import { nothingRuns } from "../../lib/v1/runs-here.ts";
import { weightedShop } from "../integration/weighted-shop.ts";

const rule = `apiVersion: config.istio.io/v1alpha2
kind: RouteRule
metadata: { name: reviews, namespace: bookshop }
spec: { destination: { name: reviews }, route: [{ labels: { version: v1 } }] }
`;

/** The bookshop as the v1 API sees it. */
async function shopOf(memo: Memo) {
  const loaded = readFiles(await weightedShop(10));
  const world = legacyWorldOf(worldOf(loaded, { ...defaultWorldOptions, legacyApi: "0.8" }, memo).value, memo);
  return { mesh: world, ...addressClassesOf(memo, world, world.instances) };
}

describe("documents of the v1 API", () => {
  it("that say the same are one, whichever classes they are for", async () => {
    const memo = createMemo();
    const { mesh, addressClasses } = await shopOf(memo);
    const domain = "bookshop.svc.cluster.local";
    const all = addressClasses.map((addressClass) =>
      classDocuments(memo, { mesh, addressClass, type: "sidecar", domain, isAddressed: true }),
    );
    expect(all.length).toBeGreaterThan(3);
    for (const kind of ["clusters", "listeners"] as const) {
      const documents = new Set(all.map((one) => one[kind]));
      expect(documents.size).toBe(new Set([...documents].map(({ text }) => text)).size);
    }
    expect(new Set(all.map(({ clusters }) => clusters)).size).toBeLessThan(all.length);
  });

  it("share virtual hosts with those of other namespaces, but for a service's own", async () => {
    const memo = createMemo();
    const { mesh } = await shopOf(memo);
    const [service] = mesh.services;
    const [port] = service?.ports ?? [];
    const hostsFor = (namespace: string) => {
      const requestContext = { world: mesh, node: holes("sidecar", `${namespace}.svc.cluster.local`), v2Names: false };
      return outboundTables(memo, requestContext, nothingRuns)
        .get(port?.port ?? 0)
        ?.find(({ name }) => name.startsWith(service?.hostname ?? "none"));
    };
    expect(hostsFor("one")).toBeDefined();
    expect(hostsFor("one")).toBe(hostsFor("two"));
    expect(hostsFor("bookshop")?.domains).not.toEqual(hostsFor("two")?.domains);
  });
});

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
