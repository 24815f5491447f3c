import { setTimeout as sleep } from "node:timers/promises";
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { eventually } from "../e2e/envoy.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { manifests } from "./live-shop.ts";
import { openPlainWay, type PlainWay } from "./plain-way.ts";
import { hasApiServer } from "./server-binaries.ts";

const config = (file: string) => new URL(`../../${file}`, import.meta.url);

describe.skipIf(!hasApiServer())("the collector in workerd, on a real API server", { timeout: 240_000 }, () => {
  let server: ApiServer;
  let way: PlainWay;
  let harness: TestHarness;
  let store: ObjectStore;
  let token = "";

  const open = async (more: Readonly<Record<string, string>> = {}) => {
    harness = createTestHarness({
      workers: [
        {
          configPath: config("wrangler.collect.toml"),
          vars: { KUBE_API: way.url, RUN_SECONDS: "12", ...more },
          secrets: { PORTOLAN_KUBE_TOKEN: token },
        },
        { configPath: config("wrangler.compile.toml") },
      ],
    });
    await harness.listen();
    const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
    store = r2Store(SNAPSHOTS);
  };
  const tickOnce = async () => (await harness.getWorker().scheduled({ cron: "* * * * *" })).outcome;
  /** A clock ticks again: a machine may be slow, and the harness may lose a tick of a Worker that it has just put in another's place. */
  const tick = () => {
    const late = () => sleep(60_000, "no answer", { ref: false });
    return eventually(
      () => Promise.race([tickOnce().catch(String), late()]),
      (outcome) => outcome === "ok",
      180_000,
    ).catch((cause: unknown) => {
      const logs = harness.getLogs().map(({ message }) => message);
      throw new Error(`${String(cause)}\n${logs.slice(-20).join("\n")}`);
    });
  };
  const keys = async () => [...((await createCollectedReader(store, "kubernetes")())?.objects.keys() ?? [])].sort();
  const service = (name: string) =>
    server.ask("POST", "/api/v1/namespaces/default/services", {
      metadata: { name },
      spec: { ports: [{ name: "http", port: 80 }] },
    });
  const lists = (plural: string) => way.asked.filter((path) => path.includes(`/${plural}?limit=`)).length;

  beforeAll(async () => {
    server = await openApiServer();
    await installIstioKinds(server);
    for (const manifest of await manifests()) await createObject(server, manifest);
    token = await collectorToken(server);
    for (const name of ["a", "b"]) await service(name);
    way = await openPlainWay(server);
    await open();
  }, 180_000);
  afterAll(async () => {
    await harness.close();
    await way.close();
    await server.close();
  });

  it("fills its source with its account's token and over four connections at most, and has it compiled", async () => {
    expect(await tick()).toBe("ok");
    expect(await keys()).toEqual(expect.arrayContaining(["Service/default/a", "Service/default/b"]));
    expect(way.most()).toBeLessThanOrEqual(4);
    const head = await eventually(
      () => readHead(store),
      (found) => found !== undefined,
      20_000,
    );
    expect(head?.head.generation).toBe(1);
    const response = await harness.fetch("/readyz");
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ isReady: true })]);
  });

  it("follows what changes while it runs", async () => {
    const ticking = tick();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await service("c");
    expect(await ticking).toBe("ok");
    expect(await keys()).toContain("Service/default/c");
  });

  it("goes on where it ended, and lists nothing anew, in an isolate that lives on", async () => {
    const before = lists("services");
    await service("d");
    await server.ask("DELETE", "/api/v1/namespaces/default/services/a");
    expect(await tick()).toBe("ok");
    expect(await keys()).toEqual(expect.arrayContaining(["Service/default/d"]));
    expect(await keys()).not.toContain("Service/default/a");
    // One list asks whether the server has come as far.
    expect(lists("services")).toBe(before);
  });

  it("compares with what lies in the bucket in an isolate that is new, and writes nothing that is there", async () => {
    const found = await store.get("sources/kubernetes/head");
    const held = await keys();
    await harness.update((options) => options);
    const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
    store = r2Store(SNAPSHOTS);
    const listed = lists("services");
    expect(await tick()).toBe("ok");
    expect(lists("services")).toBeGreaterThan(listed);
    expect(await keys()).toEqual(held);
    expect(
      found.kind === "found" && (await store.get("sources/kubernetes/head", { ifNoneMatch: found.etag })).kind,
    ).toBe("unchanged");
  });

  it("says so when the cluster cannot be followed, and keeps what it has", async () => {
    const held = await keys();
    await server.kill();
    expect(await tickOnce()).not.toBe("ok");
    expect(await keys()).toEqual(held);
    const response = await harness.fetch("/readyz");
    expect([response.status, await response.json()]).toEqual([503, expect.objectContaining({ isInSync: false })]);
    await server.start();
    expect(await tick()).toBe("ok");
    expect((await harness.fetch("/readyz")).status).toBe(200);
  });
});
