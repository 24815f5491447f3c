import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../../lib/compile/triggers/leased-compiler.ts";
import { lookupFacts, lookupReports } from "../../../lib/resolve/lookup-reports.ts";
import { createNodeFetch } from "../../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../../lib/resolve/resolver.ts";
import { resolvingCompiler } from "../../../lib/resolve/resolving-compiler.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { readHistory } from "../../../lib/snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { teapotModule } from "../../e2e/wasm-module.ts";
import { noDns } from "../name-server.ts";
import { digestOf, moduleLayer, openRegistry, type TestRegistry } from "../registry.ts";

const hour = 3_600_000;
const code = teapotModule();
const sha256 = digestOf(code);

let registry: TestRegistry;
beforeAll(async () => {
  registry = await openRegistry();
  registry.push("teapot", "latest", [moduleLayer(code)]);
});
afterAll(() => registry.close());
afterEach(() => registry.answer(undefined));

const plugin = (url: string) => `apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: teapot, namespace: shop }
spec: { url: "${url}" }
`;

/** A mesh with an extension, whose clock stands still until it is moved. */
function openMesh({
  withinMs = 5_000,
  proxyBuild,
  store = memoryStore(),
}: {
  withinMs?: number;
  proxyBuild?: string;
  store?: ReturnType<typeof memoryStore>;
} = {}) {
  let nowMs = Date.now();
  const allowedHosts = new Set(["localhost"]);
  const fetch = createNodeFetch({ allowedHosts, caBundle: registry.caBundle });
  const resolve = createResolver({ store, fetch, askDns: noDns, allowedHosts, withinMs, now: () => nowMs });
  const leased = createLeasedCompiler({ store, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });
  return {
    store,
    pass: (ms: number) => {
      nowMs += ms;
    },
    compile: () => compile(),
    async push(text: string) {
      const settings = proxyBuild === undefined ? [] : [{ file: "portolan.yaml", text: `proxyBuild: ${proxyBuild}\n` }];
      await writeShard(store, "main", [{ file: "shop.yaml", text }, ...settings], { allowEmpty: true });
      return compile();
    },
    facts: async () => (await readShard(store, "resolved").catch(() => undefined))?.files[0]?.text ?? "",
    report: async () => (await lookupReports(store)).at(-1),
    held: async () => {
      const read = await readHead(store);
      const reader = createSnapshotReader(store);
      const { root } = await reader.root(read?.head.steps.at(-1)?.root ?? "");
      return root.lookups === undefined ? undefined : JSON.parse(await reader.text(root.lookups)).heldModules;
    },
    nowMs: () => nowMs,
  };
}

const image = () => `oci://${registry.host}/teapot`;

describe("a resolver of modules", () => {
  it("puts one in force with the push that names it, and says in the history what came", async () => {
    const mesh = openMesh();
    await mesh.push(plugin(image()));
    expect(await mesh.report()).toMatchObject({ kind: "module", state: "fresh", sha256 });
    expect(await mesh.held()).toEqual([sha256]);
    const publication = (await readHead(mesh.store))?.head.publication ?? "";
    for await (const entry of readHistory(createSnapshotReader(mesh.store), publication)) {
      expect(entry).toMatchObject({ by: "resolver", why: expect.stringContaining(`the module ${image()}`) });
      break;
    }
    expect(await lookupFacts(mesh.store, mesh.nowMs)).toEqual([
      { kind: "module", host: registry.host, ageSeconds: 0, failed: 0 },
    ]);
  });

  it("lets one go a day after nothing wants it, though nothing else is looked up", async () => {
    const mesh = openMesh();
    await mesh.push(plugin(image()));
    await mesh.push("");
    expect(await mesh.held()).toEqual([sha256]);
    mesh.pass(23 * hour);
    await mesh.compile();
    expect(await mesh.facts()).toContain(sha256);
    mesh.pass(2 * hour);
    await mesh.compile();
    expect(await mesh.facts()).not.toContain(sha256);
    expect(await mesh.held()).toBeUndefined();
  });

  it("brings one back that is gone from the store, and keeps what is in force where its own state is lost", async () => {
    const mesh = openMesh();
    await mesh.push(plugin(image()));
    await mesh.store.delete(blobKey(sha256));
    await mesh.store.delete("compile/resolved");
    const { version } = await mesh.compile();
    expect((await mesh.store.get(blobKey(sha256))).kind).toBe("found");
    expect((await mesh.compile()).version).toBe(version);
  });

  it("stores what else was found, and that a fetch has begun, before the fetch", async () => {
    const mesh = openMesh();
    await mesh.push(plugin(image()));
    mesh.pass(hour);
    let during: Awaited<ReturnType<typeof mesh.report>>;
    registry.answer((_request, response) => {
      mesh.report().then((report) => {
        during ??= report;
        response.writeHead(503).end();
      });
    });
    await mesh.compile();
    expect(during).toMatchObject({ state: "stale", sha256, problem: expect.stringContaining("begun and not ended") });
    registry.answer(undefined);
    mesh.pass(hour);
    await mesh.compile();
    expect(await mesh.report()).toMatchObject({ state: "fresh", sha256 });
  });

  it("waits before it tries a module again whose fetch has ended its process", async () => {
    const mesh = openMesh();
    const ended = openMesh({ store: mesh.store });
    let asked = 0;
    const { promise, resolve: begun } = Promise.withResolvers<void>();
    registry.answer(() => {
      asked += 1;
      begun();
    });
    // Its process never hears an answer.
    void ended.push(plugin(image())).catch(() => {});
    await promise;
    registry.answer(undefined);
    mesh.pass(1_000);
    await mesh.compile();
    expect([asked, (await mesh.report())?.state]).toEqual([1, "missing"]);
    mesh.pass(16_000);
    await mesh.compile();
    expect(await mesh.report()).toMatchObject({ state: "fresh", sha256 });
  });

  it("fetches nothing where all proxies are Istio's own", async () => {
    const mesh = openMesh({ proxyBuild: "istio" });
    const before = registry.asked.length;
    await mesh.push(plugin(image()));
    expect([await mesh.report(), registry.asked.length]).toEqual([undefined, before]);
  });

  it.each<[string, Parameters<TestRegistry["answer"]>[0], string]>([
    ["resets", (request) => request.socket.destroy(), "socket"],
    ["answers with an error", (_, response) => response.writeHead(503).end(), "answers 503"],
    ["leads in a circle", (_, response) => response.writeHead(302, { location: "/again" }).end(), "more than 3"],
    ["answers with rubbish", (_, response) => response.end("<html>"), "no manifest"],
    ["answers with 10 MB", (_, response) => response.end(" ".repeat(10_000_000)), "no manifest"],
    ["has an empty manifest", (_, response) => response.end("{}"), "no layer"],
    ["has lists that are none", (_, response) => response.end('{"manifests":"x","layers":{"a":1}}'), "no layer"],
    [
      "asks for a token in no way that is known",
      (_, response) => response.writeHead(401).end(),
      "no way to get a token",
    ],
    [
      "sends tokens that are none",
      (request, response) =>
        request.url?.startsWith("/t?") === true
          ? response.end('{"token":"a\\nb"}')
          : response.writeHead(401, { "www-authenticate": `Bearer realm="https://${registry.host}/t"` }).end(),
      "gives no token",
    ],
  ])("keeps the last good one while a registry %s, and says so", async (_what, trouble, problem) => {
    const mesh = openMesh();
    const { version } = await mesh.push(plugin(image()));
    registry.answer(trouble);
    mesh.pass(hour);
    expect((await mesh.compile()).version).toBe(version);
    expect(await mesh.report()).toMatchObject({ state: "stale", sha256, problem: expect.stringContaining(problem) });
    expect(await mesh.held()).toEqual([sha256]);
  });

  it.each([
    ["clear text", "http://example.com/"],
    ["a private network", "https://10.0.0.1/"],
  ])(
    "follows no registry into %s: another process may be let, so what is in force is as fresh as it was",
    async (_what, location) => {
      const mesh = openMesh();
      await mesh.push(plugin(image()));
      registry.answer((_, response) => response.writeHead(302, { location }).end());
      mesh.pass(hour);
      await mesh.compile();
      expect(await mesh.report()).toMatchObject({
        state: "fresh",
        sha256,
        problem: expect.stringContaining("resolver.allowedHosts"),
      });
    },
  );
});
