import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import type { CertificateSource } from "../../lib/mesh/world.ts";
import { freePort } from "../free-port.ts";
import { startDev } from "./dev-process.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { addresses, get, host, istio, type Ports, workloads } from "./sidecars.ts";
import { startUpstream } from "./upstream.ts";

/** How long a proxy waits in vain for an agent that is not there (`initialFetchTimeout` of its certificates). */
const waitMs = 5_000;

let folder: string;
let ports: Ports;
let closeApp: () => Promise<unknown>;

beforeAll(async () => {
  const app = await startUpstream("the app");
  closeApp = app.close;
  ports = { server: await freePort(), service: await freePort(), app: app.port };
  const strict = istio("PeerAuthentication", "security/v1", "default", { mtls: { mode: "STRICT" } });
  const objects = [...workloads(ports), strict].map((object) => JSON.stringify(object));
  folder = await mkdtemp(join(tmpdir(), "portolan-plain-"));
  await writeFile(join(folder, "mesh.json.yaml"), objects.join("\n---\n"));
});

afterAll(async () => {
  await closeApp();
  await rm(folder, { recursive: true });
});

/** Starts the sidecars of a mesh on its printed bootstraps. @returns with how long the slowest took until it listened */
async function started(names: readonly string[], certificates: CertificateSource) {
  const dev = await startDev(folder, ["--certificates", certificates]);
  const proxies = proxiesIn(await readFolder(folder));
  const envoys: RunningEnvoy[] = [];
  let slowestMs = 0;
  for (const name of names) {
    const found = proxies.find(({ proxy }) => proxy.id === `${name}.default`);
    if (found === undefined) throw new Error(`no proxy ${name}`);
    const startMs = performance.now();
    const envoy = await startEnvoy(bootstrapFor(found, dev.url, 0, { certificates }));
    envoys.push(envoy);
    await eventually(
      async () => Number(await envoy.stat("listener_manager.total_listeners_active")),
      (count) => count > 0,
      30_000,
    );
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
  }
  const stop = async () => {
    for (const envoy of envoys) await envoy.stop();
    await dev.stop();
  };
  return { slowestMs, envoys, stop };
}

describe("sidecars of a mesh without certificates", () => {
  it("listen at once, speak plain text with one another under STRICT, and end with exit code 0", async () => {
    const { slowestMs, envoys, stop } = await started(["server", "client"], "none");
    try {
      expect(await get({ host: addresses.client, port: ports.service, path: "/", headers: { host } })).toEqual({
        status: 200,
        body: "the app",
      });
      const bootstraps = await Promise.all(envoys.map((envoy) => envoy.admin("/config_dump")));
      expect(bootstraps.filter((text) => text.includes("sds-grpc"))).toEqual([]);
      expect(slowestMs).toBeLessThan(waitMs);
    } finally {
      await stop();
    }
  }, 60_000);

  it("would wait for an agent that is not there, were they to have certificates", async () => {
    const { slowestMs, stop } = await started(["server"], "sds");
    await stop();
    expect(slowestMs).toBeGreaterThan(waitMs * 0.9);
  }, 60_000);
});
