import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestOf, moduleLayer, tarLayer } from "../resolve/registry.ts";
import { rejections, startGateway } from "./bookshop.ts";
import { openModuleShop, plugin, with422 } from "./module-shop.ts";
import { teapotModule } from "./wasm-module.ts";

const code = teapotModule();

/** Behind a gateway that polls. */
async function openShop() {
  const shop = await openModuleShop();
  const envoy = await startGateway(shop.url, { certificates: "none" });
  return {
    ...shop,
    envoy,
    async close() {
      await envoy.stop();
      await shop.close();
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
  }, 300_000);

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
  }, 300_000);

  it("is another one when the tag moves, and the last good one when the registry is away", async () => {
    const { registry } = shop;
    const next = with422(code);
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
  }, 300_000);
});
