import { describe, expect, it } from "vitest";
import { tarLayer } from "../resolve/registry.ts";
import { rejections, startGateway } from "./bookshop.ts";
import { openModuleShop, plugin, with422 } from "./module-shop.ts";
import { teapotModule } from "./wasm-module.ts";

const code = teapotModule();

describe.each(["delta", "sotw"] as const)("code of a Wasm plugin over a stream, %s", (transport) => {
  it("comes from the port of the stream once it was fetched, and is in force while the server is away", async () => {
    const shop = await openModuleShop();
    const { registry } = shop;
    const envoy = await startGateway(shop.grpcUrl, { transport, certificates: "none" });
    try {
      await shop.answers(200);
      const url = `url: "oci://${registry.host}/teapot:latest"`;
      expect(await shop.write(plugin(url))).toEqual(["wasm-not-fetched"]);
      await shop.answers(403);
      await shop.write(plugin(`${url}, failStrategy: FAIL_OPEN`));
      await shop.answers(200);
      registry.push("teapot", "latest", [await tarLayer("plugin.wasm", code)]);
      shop.pass(60_000);
      expect(await shop.compile()).toEqual([]);
      await shop.answers(418);
      await shop.stopServer();
      registry.push("teapot", "latest", [await tarLayer("plugin.wasm", with422(code))]);
      shop.pass(21 * 60_000);
      await shop.compile();
      expect(await shop.answers(418)).toEqual([418]);
      await shop.startServer();
      // The code of before serves until the next one is there.
      expect(await shop.answers(422)).toEqual([418, 422]);
      expect(await rejections(envoy)).toEqual([]);
    } finally {
      await envoy.stop();
      await shop.close();
    }
  }, 300_000);
});
