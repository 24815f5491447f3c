import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rejections, shopHost, startGateway, withWeights } from "../e2e/bookshop.ts";
import { eventually, type RunningEnvoy } from "../e2e/envoy.ts";
import { failures, startTraffic, type Traffic } from "../e2e/traffic.ts";
import { program } from "../programs.ts";
import { type ApiServer, openApiServer } from "./api-server.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { type CutProxy, openCutProxy } from "./cut-proxy.ts";
import { type LiveShop, openLiveShop } from "./live-shop.ts";
import { hasApiServer } from "./server-binaries.ts";

const cli = await program("cli");

/** `portolan dev --kube` as a process of its own, with all that it tells. */
async function startLiveDev(kubeconfig: string, store: string) {
  const args = [cli, "dev", "--kube", "--port", "0", "--json", "--store", store];
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const events: { readonly event: string; readonly url?: string; readonly reason?: string }[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const event = JSON.parse(line);
      events.push(event);
      if (event.event === "serving") resolve(event.url);
    });
    child.once("exit", (code) => reject(new Error(`portolan dev ended with ${code}`)));
  });
  return {
    url,
    events,
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

describe.skipIf(!hasApiServer())(
  "the bookshop in a real API server, collected, compiled and served to a real Envoy",
  // Each test goes on from where the one before it ended.
  { retry: 0, timeout: 120_000 },
  () => {
    let server: ApiServer;
    let line: CutProxy;
    let shop: LiveShop;
    let dev: Awaited<ReturnType<typeof startLiveDev>>;
    let envoy: RunningEnvoy;
    let traffic: Traffic;
    const closing: (() => unknown)[] = [];

    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), "portolan-live-store-"));
      closing.push(() => rm(folder, { recursive: true, force: true }));
      server = await openApiServer();
      closing.push(server.close);
      process.env.KUBECONFIG = server.kubeconfig;
      await installIstioKinds(server);
      shop = await openLiveShop(server);
      closing.push(shop.close);
      line = await openCutProxy(Number(new URL(server.url).port));
      closing.push(line.close);
      const kubeconfig = join(folder, "kubeconfig");
      await writeFile(kubeconfig, await server.kubeconfigFor(`https://127.0.0.1:${line.port}`));
      dev = await startLiveDev(kubeconfig, join(folder, "store"));
      closing.push(dev.stop);
      envoy = await startGateway(dev.url);
      closing.push(envoy.stop);
      traffic = startTraffic(shop.port, shopHost, "/catalog");
      closing.push(traffic.stop);
      await eventually(
        async () => traffic.counts().size,
        (size) => size > 0,
        20_000,
      );
    });
    afterAll(async () => {
      for (const close of closing.reverse()) await close();
    });

    /** Every answer of anybody but the shop's servers, since the beginning. */
    const failed = new Map<string, number>();
    const look = () => {
      for (const [answer, count] of failures(traffic, shop.names))
        failed.set(answer, (failed.get(answer) ?? 0) + count);
      traffic.reset();
    };
    /** Who answers from now on: waits until only these do. */
    const answeredBy = async (...names: readonly string[]) => {
      await eventually(
        async () => {
          look();
          // Few answers would be of one server by chance.
          while ([...traffic.counts().values()].reduce((sum, count) => sum + count, 0) < 40)
            await new Promise((resolve) => setTimeout(resolve, 100));
          return [...traffic.counts().keys()].sort().join();
        },
        (now) => now === [...names].sort().join(),
        20_000,
      );
    };
    const nothingFailed = () => {
      look();
      expect(failed).toEqual(new Map());
    };

    it("leads to all pods of the catalog", async () => {
      await answeredBy("catalog-v1", "catalog-v1b", "catalog-v2");
      nothingFailed();
    });

    it("follows a VirtualService that is applied, and says its revision", async () => {
      const told = await shop.apply("catalog.yaml", withWeights(0, 100));
      expect(told.join("\n")).toMatch(/Updated VirtualService\/bookshop\/catalog to revision \d+/);
      await answeredBy("catalog-v2");
      await shop.apply("catalog.yaml", withWeights(100, 0));
      await answeredBy("catalog-v1", "catalog-v1b");
      nothingFailed();
    });

    it("leaves out a pod that is deleted", async () => {
      await server.ask("DELETE", "/api/v1/namespaces/bookshop/pods/catalog-v1-1?gracePeriodSeconds=0");
      await answeredBy("catalog-v1b");
      nothingFailed();
      await shop.servers.get("catalog-v1")?.close();
      await answeredBy("catalog-v1b");
      nothingFailed();
    });

    it("goes on while the API server is killed, and follows when it is back", async () => {
      await server.kill();
      await eventually(
        async () => dev.events.some(({ event }) => event === "trouble"),
        (isTold) => isTold,
        20_000,
      );
      await answeredBy("catalog-v1b");
      await server.start();
      await shop.apply("catalog.yaml", withWeights(0, 100));
      await answeredBy("catalog-v2");
      nothingFailed();
      await eventually(
        async () => dev.events.at(-1)?.event !== "trouble",
        (isOver) => isOver,
        40_000,
      );
    });

    it("reads everything anew when etcd was compacted under its watches", async () => {
      line.cut();
      for (const weights of [withWeights(50, 50), withWeights(0, 100), withWeights(100, 0)])
        await shop.apply("catalog.yaml", weights);
      await server.kill();
      await server.compact();
      await server.start();
      line.mend();
      await answeredBy("catalog-v1b");
      nothingFailed();
      expect(await rejections(envoy)).toEqual([]);
    });
  },
);
