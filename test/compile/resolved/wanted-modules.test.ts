import { describe, expect, it } from "vitest";
import { wantedModules, withResolvedModules } from "../../../lib/compile/resolved/wanted-modules.ts";
import { moduleName } from "../../../lib/config/kinds/wasm-module.ts";
import type { WasmConfig } from "../../../lib/config/kinds/wasm-plugin.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { config, service } from "../../xds/world-parts.ts";

const sha256 = "a1".repeat(32);
const group = "extensions.istio.io";
const plugin = (name: string, spec: WasmConfig, namespace = "shop") =>
  config("WasmPlugin", name, spec, { namespace, group });
const wanted = (specs: readonly WasmConfig[], services: readonly ReturnType<typeof service>[] = []) =>
  wantedModules(
    specs.map((spec, index) => plugin(`p${index}`, spec)),
    services,
    "istio-system",
    createMemo(),
  ).value;

describe("the modules that a world wants", () => {
  it("are images and code over https, and over http with a hash; none in files", () => {
    const found = wanted([
      { url: "ghcr.io/team/a" },
      { url: "oci://ghcr.io/team/b:1", imagePullSecret: "pull" },
      { url: "oci://ghcr.io/team/c:1", imagePullPolicy: "Always" },
      { url: `oci://ghcr.io/team/d@sha256:${sha256}` },
      { url: "oci://localhost:5000/e:latest", imagePullPolicy: "IfNotPresent" },
      { url: "https://example.com/f.wasm" },
      { url: "http://example.com/g.wasm", sha256 },
      { url: "http://example.com/h.wasm" },
      { url: "file:///i.wasm" },
    ]);
    expect(found.map(moduleName)).toEqual([
      `http://example.com/g.wasm sha256=${sha256}`,
      "https://example.com/f.wasm",
      "oci://ghcr.io/team/a imagePullPolicy=Always",
      "oci://ghcr.io/team/b:1 imagePullSecret=shop/pull",
      "oci://ghcr.io/team/c:1 imagePullPolicy=Always",
      `oci://ghcr.io/team/d@sha256:${sha256}`,
      "oci://localhost:5000/e:latest",
    ]);
  });

  it("are none that a proxy fetches from a service of its namespace, whatever other namespaces declare", () => {
    const external = "https://code.example.com/a.wasm";
    const named = (namespace: string) => service("code", { hostname: "code.example.com", attributes: { namespace } });
    expect(wanted([{ url: external, sha256 }], [named("shop")])).toEqual([]);
    expect(wanted([{ url: external, sha256 }], [named("istio-system")])).toEqual([]);
    expect(wanted([{ url: external, sha256 }], [named("other")])).toHaveLength(1);
    expect(wanted([{ url: external }], [named("shop")])).toHaveLength(1);
  });

  it("are a few of each namespace, so that none uses up what is for all", () => {
    const many = Array.from({ length: 20 }, (_, i) =>
      plugin(`p${i}`, { url: `https://a.example/${i}.wasm` }, "greedy"),
    );
    const one = plugin("one", { url: "https://z.example/one.wasm" }, "modest");
    const { value, diagnostics } = wantedModules([...many, one], [], "istio-system", createMemo());
    expect([value.length, value.at(-1)?.url]).toEqual([9, "https://z.example/one.wasm"]);
    expect(diagnostics).toHaveLength(12);
    expect(diagnostics[0]).toMatchObject({
      code: "wasm-not-fetched",
      path: ["spec", "url"],
      message: expect.stringContaining("namespace greedy may have 8 modules"),
    });
  });

  it("are those of each namespace in turn, the oldest first, where there are too many for the mesh", () => {
    const aged = (name: string, url: string, namespace: string, creationTimestampMs: number) => {
      const made = plugin(name, { url }, namespace);
      return { ...made, meta: { ...made.meta, creationTimestampMs } };
    };
    const older = Array.from({ length: 9 }, (_, space) =>
      Array.from({ length: 8 }, (_, i) => aged(`p${i}`, `https://a.example/${space}-${i}.wasm`, `n${space}`, i)),
    ).flat();
    const newest = aged("a", "https://0.example/a.wasm", "late", 1_000);
    const also = aged("b", "https://a.example/0-0.wasm", "late", 2_000);
    const { value, diagnostics } = wantedModules([...older, newest, also], [], "istio-system", createMemo());
    const urls = value.map(({ url }) => url);
    expect(urls).toHaveLength(64);
    expect(urls).toContain("https://0.example/a.wasm");
    expect(urls.filter((url) => url.endsWith("-6.wasm"))).toHaveLength(9);
    // What is left out is the youngest of some namespaces; a module that is fetched for another object is there for both.
    expect(diagnostics.map(({ origin }) => origin.key?.name)).toEqual(Array.from({ length: 9 }, () => "p7"));
    expect(diagnostics[0]?.message).toContain("the mesh may have 64 modules");
  });
});

describe("modules that were fetched", () => {
  it("are known to the extensions that name them alike, and to no others", () => {
    const own = plugin("own", { url: "oci://ghcr.io/a:1", imagePullSecret: "pull" });
    const other = plugin("other", { url: "oci://ghcr.io/a:1", imagePullSecret: "pull" }, "other");
    const bare = plugin("bare", { url: "oci://ghcr.io/a:1" });
    const found = [{ of: "oci://ghcr.io/a:1 imagePullSecret=shop/pull", sha256 }];
    const memo = createMemo();
    const changed = withResolvedModules([own, other, bare], found, memo);
    expect(changed.map(({ spec }) => Reflect.get(Object(spec), "resolvedSha256"))).toEqual([
      sha256,
      undefined,
      undefined,
    ]);
    expect(withResolvedModules([own, other, bare], found, memo)[0]).toBe(changed[0]);
    expect(changed[1]).toBe(other);
  });
});
