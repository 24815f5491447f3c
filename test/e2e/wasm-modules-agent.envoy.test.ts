import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bootstrapFor } from "../../lib/cli/proxy/bootstrap.ts";
import { digestOf, tarLayer } from "../resolve/registry.ts";
import { agentFolder, clearAgent, startAgent } from "./agent-process.ts";
import { gatewayOfShop, rejections } from "./bookshop.ts";
import { eventually } from "./envoy.ts";
import { openModuleShop, plugin, with422 } from "./module-shop.ts";
import { teapotModule } from "./wasm-module.ts";

const code = teapotModule();

describe("code of a Wasm plugin at an Envoy with an agent", () => {
  it("comes by way of the agent, which keeps it for an Envoy that starts while the server is away", async () => {
    const shop = await openModuleShop();
    const { registry } = shop;
    const folder = await agentFolder();
    const bootstrap = bootstrapFor(await gatewayOfShop(), "http://127.0.0.1:9", 0, { certificates: "none" });
    const start = () => startAgent({ folder, bootstrap, args: ["--server", shop.url] });
    const first = await start();
    try {
      await shop.answers(200);
      registry.push("teapot", "latest", [await tarLayer("plugin.wasm", code)]);
      expect(await shop.write(plugin(`url: "oci://${registry.host}/teapot:latest"`))).toEqual([]);
      await shop.answers(418);
      await shop.stopServer();
      process.kill(await first.envoyPid(), "SIGKILL");
      // An Envoy that has only just started answers nobody, or as if nothing was in force: until it has its code it refuses.
      expect((await shop.answers(418)).filter((status) => status === 200)).toEqual([]);
      expect(await first.end("SIGTERM")).toBe(0);
      // What lies on the disk is believed by its hash alone.
      await writeFile(join(folder, "wasm", digestOf(code)), "damaged");
      const second = await start();
      try {
        await eventually(
          () => second.admin("/ready"),
          (text) => text.startsWith("LIVE"),
          30_000,
        );
        registry.push("teapot", "latest", [await tarLayer("plugin.wasm", with422(code))]);
        shop.pass(21 * 60_000);
        await shop.compile();
        await shop.startServer();
        expect((await shop.answers(422)).filter((status) => status === 200)).toEqual([]);
        expect(await rejections(second)).toEqual([]);
        expect(second.log()).not.toContain("refuses");
      } finally {
        await second.end("SIGTERM");
      }
    } finally {
      await first.end("SIGKILL");
      await clearAgent(folder);
      await shop.close();
    }
  }, 300_000);
});
