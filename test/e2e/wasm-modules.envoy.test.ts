import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { resolvingCompiler } from "../../lib/resolve/resolving-compiler.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { noDns } from "../resolve/name-server.ts";
import { digestOf, moduleLayer, openRegistry, tarLayer } from "../resolve/registry.ts";
import { openBookshop, rejections, startGateway } from "./bookshop.ts";
import { eventually } from "./envoy.ts";
import { asker } from "./fail-closed-mesh.ts";
import { teapotModule } from "./wasm-module.ts";

const code = teapotModule();

const plugin = (spec: string) => `
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: teapot, namespace: bookshop }
spec: { selector: { matchLabels: { istio: ingressgateway } }, phase: AUTHN, ${spec} }
`;

/** The bookshop behind a gateway that polls, a registry that its extensions are in, and a clock that is moved by hand. */
async function openShop() {
  const [shop, registry] = await Promise.all([openBookshop(), openRegistry()]);
  const store = memoryStore();
  let aheadMs = 0;
  const allowedHosts = new Set(["localhost"]);
  const resolve = createResolver({
    store,
    fetch: createNodeFetch({ allowedHosts, caBundle: registry.caBundle }),
    askDns: noDns,
    allowedHosts,
    withinMs: 5_000,
    now: () => Date.now() + aheadMs,
  });
  const world = { ...defaultWorldOptions, certificates: "none" } as const;
  const leased = createLeasedCompiler({ store, world, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });
  const front = createFront({ store, maxHoldMs: 1_000 });
  const polls = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  await writeShard(store, "main", await readFolder(shop.folder));
  await compile();
  const envoy = await startGateway(polls.url, { certificates: "none" });
  const ask = asker(shop.port);
  /** Compiles, and gives the codes of what is said. */
  const said = async () =>
    (await compile()).diagnostics.map(({ code }) => code).filter((one) => one !== "without-certificates");
  return {
    registry,
    envoy,
    reports: () => lookupReports(store),
    /** Asks until an answer has a status. @returns all that came, each once */
    async answers(wanted: number) {
      const seen = new Set<number>();
      const asked = async () => {
        const { status } = await ask("/catalog", {});
        seen.add(status);
        return status;
      };
      await eventually(asked, (status) => status === wanted, 30_000);
      return [...seen];
    },
    pass: (ms: number) => {
      aheadMs += ms;
    },
    compile: said,
    async write(text: string) {
      await shop.add("teapot.yaml", text);
      await writeShard(store, "main", await readFolder(shop.folder));
      return said();
    },
    async close() {
      await envoy.stop();
      await Promise.all([polls.close(), registry.close(), shop.close()]);
      front.close();
    },
  };
}

describe("code of a Wasm plugin that an Envoy cannot fetch", () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    shop = await openShop();
  }, 120_000);
  afterAll(() => shop?.close());

  it("runs in a polling Envoy once it was fetched: an image, and a file over https", async () => {
    const { registry } = shop;
    registry.push("teapot", "1", [await tarLayer("plugin.wasm", code)]);
    registry.file("/teapot.wasm", code);
    await shop.answers(200);
    expect(await shop.write(plugin(`url: "oci://${registry.host}/teapot:1"`))).toEqual([]);
    await shop.answers(418);
    await shop.write("");
    await shop.answers(200);
    await shop.write(plugin(`url: "https://${registry.host}/teapot.wasm", vmConfig: { env: [{ name: A, value: b }] }`));
    await shop.answers(418);
    expect(await rejections(shop.envoy)).toEqual([]);
  }, 90_000);

  it("is refused in full, or passed over where it fails open, until it is there", async () => {
    const { registry } = shop;
    const url = `url: "oci://${registry.host}/late:latest"`;
    expect(await shop.write(plugin(url))).toEqual(["wasm-not-fetched"]);
    expect(await shop.reports()).toContainEqual(
      expect.objectContaining({ kind: "module", state: "missing", problem: expect.stringContaining("404") }),
    );
    await shop.answers(403);
    await shop.write(plugin(`${url}, failStrategy: FAIL_OPEN`));
    await shop.answers(200);
    registry.push("late", "latest", [moduleLayer(code)]);
    shop.pass(60_000);
    expect(await shop.compile()).toEqual([]);
    await shop.answers(418);
  }, 90_000);

  it("is another one when the tag moves, and the last good one when the registry is away", async () => {
    const { registry } = shop;
    // The teapot with another status: 0xa2 0x03 is 418, 0xa6 0x03 is 422.
    const next = code.slice();
    const at = next.findIndex((byte, index) => byte === 0xa2 && next[index + 1] === 0x03);
    next[at] = 0xa6;
    registry.push("late", "latest", [moduleLayer(next)]);
    shop.pass(21 * 60_000);
    await shop.compile();
    // The code of before serves until the next one is there.
    expect(await shop.answers(422)).toEqual([418, 422]);
    registry.answer((request) => request.socket.destroy());
    shop.pass(60 * 60_000);
    await shop.compile();
    expect(await shop.reports()).toContainEqual(
      expect.objectContaining({ of: expect.stringContaining("late"), state: "stale", sha256: digestOf(next) }),
    );
    await shop.answers(422);
    expect(await rejections(shop.envoy)).toEqual([]);
  }, 90_000);
});
