import { describe, expect, it } from "vitest";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { readShard } from "../../lib/compile/shards/read-shard.ts";
import { fileKey } from "../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../lib/config/canonical-json.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { noFolder, readAgain } from "../../lib/config/folder/last-valid.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

const service = (name: string) => `apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: 10.0.0.1, ports: [{ name: http, port: 80 }] }
`;
const pod = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop, labels: { app: web, security.istio.io/tlsMode: istio } }
spec: { serviceAccountName: web }
status: { podIP: 10.1.0.1, phase: Running }
`;
const rule = (name: string, field = "host") => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: ${name}, namespace: shop }
spec: { ${field}: ${name}.shop.svc.cluster.local, subsets: [{ name: v1, labels: { version: v1 } }] }
`;
const rules = (...texts: readonly string[]): SourceFile => ({ file: "rules.yaml", text: texts.join("---\n") });
const others: SourceFile = { file: "services.yaml", text: [service("a"), service("b"), pod].join("---\n") };

function scene() {
  const store = memoryStore();
  const warm = createRecompiler({ store });
  return {
    store,
    warm,
    cold: () => createRecompiler({ store })(),
    fill: (...files: readonly SourceFile[]) => writeShard(store, "main", [...files, others]),
    kept: async () => (await readShard(store, "main"))?.kept?.map(({ key }) => key) ?? [],
  };
}

const codesOf = ({ diagnostics }: { readonly diagnostics: readonly { readonly code: string }[] }) =>
  diagnostics.map(({ code }) => code);

describe("the last valid form of an object", () => {
  it("is served while its new form is refused, the same by a warm and by a cold compiler", async () => {
    const { warm, cold, fill } = scene();
    await fill(rules(rule("a"), rule("b")));
    await warm();
    await fill(rules(rule("a"), rule("b", "hots")));
    const first = await warm();
    expect(codesOf(first)).toEqual(expect.arrayContaining(["unknown-field", "last-valid-served"]));
    expect(await cold()).toMatchObject({ kind: "unchanged", version: first.version });
    expect(await warm()).toMatchObject({ kind: "unchanged" });
  });

  it("is that of an EnvoyFilter, too, when Envoy would refuse what a patch of the new one brings", async () => {
    const { store, warm, cold, fill } = scene();
    const limiter = (config: string): SourceFile => ({
      file: "limiter.yaml",
      text: `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: limiter, namespace: shop }
spec:
  configPatches:
    - applyTo: HTTP_FILTER
      match: { context: SIDECAR_OUTBOUND, listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager } } } }
      patch:
        operation: INSERT_FIRST
        value:
          name: limiter
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit
            domain: ${config}
            rate_limit_service: { transport_api_version: V3, grpc_service: { envoy_grpc: { cluster_name: limits } } }
`,
    });
    await fill(limiter("shop"));
    const tables = async ({ version }: { readonly version: string }) =>
      (await createSnapshotReader(store).root(version)).root.tables;
    const before = await warm();
    // A domain is never empty, and never a list.
    for (const config of ["''", "[shop]"]) {
      await fill(limiter(config));
      const after = await warm();
      expect(codesOf(after)).toEqual(expect.arrayContaining(["envoy-filter-value", "last-valid-served"]));
      expect(await tables(after)).toEqual(await tables(before));
      expect(await cold()).toMatchObject({ kind: "unchanged", version: after.version });
    }
    await fill(limiter("shop"));
    expect(await warm()).toMatchObject({ version: before.version, diagnostics: [] });
  });

  it("is served when the object is refused in another file, and when nobody can read that one any more", async () => {
    const { fill, kept } = scene();
    const moved = (text: string): SourceFile => ({ file: "moved.yaml", text });
    const keptB = ["DestinationRule/shop/b"];
    await fill(rules(rule("a"), rule("b")));
    await fill(rules(rule("a")), moved(rule("b", "hots")));
    expect(await kept()).toEqual(keptB);
    await fill(rules(rule("a")), moved(`a: [\n${rule("b")}`));
    expect(await kept()).toEqual(keptB);
    await fill(rules(rule("a"), "# touched\n"), moved(`a: [\n${rule("b")}`));
    expect(await kept()).toEqual(keptB);
    await fill(rules(rule("a")), moved("# nothing\n"));
    expect(await kept()).toEqual([]);
  });

  it("is served when it goes from one file while another one, which nobody touched, holds a form that is refused", async () => {
    const { store, fill, kept } = scene();
    const copy: SourceFile = { file: "copy.yaml", text: rule("b", "hots") };
    await fill(rules(rule("a"), rule("b")), copy);
    expect(await kept()).toEqual([]);
    await fill(rules(rule("a")), copy);
    expect(await kept()).toEqual(["DestinationRule/shop/b"]);
    await fill(rules(rule("a"), rule("b")), copy);
    // What `apply` has written is such another one, too.
    await writeShard(store, "main", [copy], { part: "applied" });
    await fill(rules(rule("a"), rule("b")));
    expect(await kept()).toEqual([]);
    await fill(rules(rule("a")));
    expect(await kept()).toEqual(["DestinationRule/shop/b"]);
  });

  it("is served so too where that other one writes the object's name with escapes", async () => {
    const { fill, kept } = scene();
    const metadata = { name: "app", namespace: "shop" };
    const json = { apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata, spec: { hots: "x" } };
    const copy: SourceFile = { file: "copy.json", text: JSON.stringify(json).replace('"app"', '"\\u0061pp"') };
    await fill(rules(rule("app")), copy);
    await fill(rules(rule("a")), copy);
    expect(await kept()).toEqual(["DestinationRule/shop/app"]);
  });

  it("is served while its folder cannot be read, however often a source is filled", async () => {
    const { store, fill, cold } = scene();
    const under: SourceFile = { file: "sub/rules.yaml", text: rule("a") };
    const hidden: SourceFile = { file: "sub/", text: "", problem: "permission denied" };
    const names = async () => (await readShard(store, "main"))?.files.map(({ file }) => file);
    await fill(under);
    for (const text of ["# once\n", "# twice\n"]) {
      await fill(hidden, { file: "note.yaml", text });
      expect(await names()).toContain("sub/rules.yaml");
      expect(codesOf(await cold())).toContain("unreadable-file");
    }
    await fill();
    expect(await names()).toEqual(["services.yaml"]);
  });

  it("is served when it goes from one file while another holds a form that is refused", () => {
    const file = (name: string, text: string): SourceFile => ({ file: name, text });
    const refused = file("moved.yaml", rule("b", "hots"));
    const first = readAgain(noFolder, [file("rules.yaml", `${rule("a")}---\n${rule("b")}`), refused]);
    expect(first.kept).toEqual([]);
    const second = readAgain(first, [file("rules.yaml", rule("a")), refused]);
    expect(second.kept.map(({ key }) => key)).toEqual(["DestinationRule/shop/b"]);
  });

  it("is served for a misspelt kind or group too, in the same bytes as before, whoever compiles", async () => {
    const { store, warm, cold, fill, kept } = scene();
    const tables = async ({ version }: { readonly version: string }) =>
      (await createSnapshotReader(store).root(version)).root.tables;
    await fill(rules(rule("a"), rule("b")));
    const whole = await tables(await warm());
    for (const [written, slip] of [
      ["DestinationRule", "DestinationRules"],
      ["networking.istio.io", "networking.istoi.io"],
    ] as const) {
      await fill(rules(rule("a"), rule("b").replace(written, slip)));
      expect(await kept()).toEqual(["DestinationRule/shop/b"]);
      const broken = await warm();
      expect(codesOf(broken)).toEqual(expect.arrayContaining(["unknown-kind", "last-valid-served"]));
      expect(await tables(broken)).toEqual(whole);
      expect(await cold()).toMatchObject({ kind: "unchanged", version: broken.version });
    }
    await fill(rules(rule("a")));
    expect(await kept()).toEqual([]);
    expect(await tables(await warm())).not.toEqual(whole);
  });

  it("outlives any number of further broken forms, and goes when the object is mended or taken out", async () => {
    const { fill, kept } = scene();
    await fill(rules(rule("a"), rule("b")));
    for (const field of ["hots", "hast"]) await fill(rules(rule("a"), rule("b", field)));
    expect(await kept()).toEqual(["DestinationRule/shop/b"]);
    await fill(rules(rule("a"), "a: [\n"));
    expect(await kept()).toEqual(["DestinationRule/shop/b"]);
    await fill(rules(rule("a"), rule("b")));
    expect(await kept()).toEqual([]);
    await fill(rules(rule("a"), rule("b", "hots")));
    await fill(rules(rule("a")));
    expect(await kept()).toEqual([]);
  });

  it("follows an object into another file, and gives way to a valid one in any file", async () => {
    const { fill, kept } = scene();
    await fill(rules(rule("a"), rule("b")));
    await fill(rules(rule("a")), { file: "moved.yaml", text: rule("b", "hots") });
    expect(await kept()).toEqual(["DestinationRule/shop/b"]);
    await fill({ file: "all.yaml", text: rule("b") }, rules(rule("a")), {
      file: "moved.yaml",
      text: rule("b", "hots"),
    });
    expect(await kept()).toEqual([]);
  });

  it("goes before a copy that nobody touched, the same by a warm and by a cold compiler", async () => {
    const { store, warm, cold, fill, kept } = scene();
    const tables = async ({ version }: { readonly version: string }) =>
      (await createSnapshotReader(store).root(version)).root.tables;
    const copy: SourceFile = { file: "copy.yaml", text: rule("b").replace("v1", "v0") };
    await fill(copy, rules(rule("b")));
    const whole = await tables(await warm());
    await fill(copy, rules(rule("b", "hots")));
    expect(await kept()).toEqual(["DestinationRule/shop/b"]);
    const broken = await warm();
    expect(await tables(broken)).toEqual(whole);
    expect(await cold()).toMatchObject({ kind: "unchanged", version: broken.version });
    await fill({ ...copy, text: rule("b") }, rules(rule("b", "hots")));
    expect(await kept()).toEqual([]);
  });

  it("is one of settings and of other clusters too, by the file", async () => {
    const { store, cold } = scene();
    const files = (mesh: string, cluster: string) => [
      others,
      rules(rule("a")),
      { file: "mesh.yaml", text: mesh },
      { file: "clusters/east.yaml", text: cluster },
    ];
    await writeShard(store, "main", files("trustDomain: shop.example\n", service("c")));
    const whole = await cold();
    await writeShard(store, "main", files("trustDomain: [\n", "a: [\n"));
    const broken = await cold();
    expect(codesOf(broken).filter((code) => code === "last-valid-served")).toHaveLength(2);
    expect((await readHead(store))?.head.steps.at(-1)?.root).toBe(broken.version);
    await writeShard(store, "main", files("trustDomain: shop.example\n", service("c")));
    expect((await cold()).version).toBe(whole.version);
  });

  it("is nothing where an object was never right", async () => {
    const { fill, kept, cold } = scene();
    await fill(rules(rule("a"), rule("b", "hots")));
    expect(await kept()).toEqual([]);
    expect(codesOf(await cold())).toContain("unknown-field");
  });

  it("costs a fill of unbroken files no reading but of the text before of what changed", async () => {
    const { store, fill } = scene();
    await fill(rules(rule("a")));
    const read: string[] = [];
    const get = (key: string) => {
      read.push(key);
      return store.get(key);
    };
    const watched = { ...store, get };
    await writeShard(watched, "main", [rules(rule("b")), others]);
    // What stays is looked at once, as it is found in place.
    const wanted = [rule("a"), others.text].map((text) => fileKey("main", sha256(text)));
    expect(read.filter((key) => key.includes("/files/")).sort()).toEqual(wanted.sort());
  });
});

describe("a file that is half saved", () => {
  it("is taken as it was where files may be under way, and stays so for whoever compiles next", async () => {
    const { store, warm, cold } = scene();
    const whole = rules(rule("a"), rule("b"));
    await writeShard(store, "main", [whole, others], { halfSaves: true });
    const before = await warm();
    const half = { ...whole, text: whole.text.slice(0, -30) };
    await writeShard(store, "main", [half, others], { halfSaves: true });
    expect(codesOf(await warm())).toContain("half-saved");
    expect(codesOf(await cold())).toContain("half-saved");
    await writeShard(store, "main", [whole, others], { halfSaves: true });
    expect((await cold()).version).toBe(before.version);
  });

  it("is the same one under another name, and what another cluster's file said is said under its new name", async () => {
    const { store, cold } = scene();
    const whole = rule("a");
    const fill = (...files: readonly SourceFile[]) =>
      writeShard(store, "main", [...files, others], { halfSaves: true });
    const filesNow = async () => (await readShard(store, "main"))?.files.map(({ file, text }) => [file, text]);
    await fill({ file: "a.yaml", text: whole });
    await fill({ file: "a.yaml", text: whole.slice(0, -9) });
    await fill({ file: "b.yaml", text: whole.slice(0, -9) });
    expect(await filesNow()).toContainEqual(["b.yaml", whole]);
    expect(codesOf(await cold())).toContain("half-saved");
    const east: SourceFile = { file: "clusters/east.yaml", text: service("c") };
    await fill(east);
    await fill({ ...east, text: "", problem: "permission denied" });
    await fill({ file: "clusters/west.yaml", text: "", problem: "permission denied" });
    expect(await filesNow()).toContainEqual(["clusters/west.yaml", service("c")]);
  });
});
