import { execFile } from "node:child_process";
import { readFile, rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../programs.ts";
import { shopHost, withWeights } from "./bookshop.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { type GuardedShop, openGuardedShop } from "./guarded-shop.ts";
import { movedTo, startTraffic } from "./traffic.ts";

const server = await program("server");
let guarded: GuardedShop;
let envoy: RunningEnvoy;

beforeAll(async () => {
  guarded = await openGuardedShop();
  await guarded.newToken();
  envoy = await guarded.startGateway();
});

afterAll(async () => {
  await envoy.stop();
  await guarded.close();
});

describe("an Envoy whose token lies in a file", () => {
  it("is served with it, goes on without, and follows the next one, signed with the next key, without a restart", async () => {
    const traffic = startTraffic(guarded.shop.port, shopHost, "/catalog");
    const counts = async () => traffic.counts().get("catalog-v2") ?? 0;
    await eventually(counts, (count) => count > 20);

    const failures = async () => Number(await envoy.stat("cluster_manager.cds.update_failure"));
    const before = await failures();
    await writeFile(`${guarded.tokenFile}.new`, "no token");
    await rename(`${guarded.tokenFile}.new`, guarded.tokenFile);
    await eventually(failures, (count) => count > before + 1, 20_000);
    await guarded.shop.edit("catalog.yaml", withWeights(0, 100));
    await guarded.push();
    expect(await counts()).toBeLessThan([...traffic.counts().values()].reduce((sum, count) => sum + count, 0) / 2);

    await guarded.portolan("keys", "rotate", "--use", "tokens");
    await guarded.newToken();
    const reloads = async () =>
      Number(
        (await envoy.stat(`http.outbound_0.0.0.0_${guarded.shop.port};.rds.http.${guarded.shop.port}.config_reload`)) ??
          0,
      );
    await eventually(reloads, (count) => count >= 2, 20_000);
    await movedTo(traffic, "catalog-v2");
    await traffic.stop();
    expect([...traffic.counts().keys()]).toEqual(["catalog-v2"]);
  }, 60_000);

  it("is not served in another namespace's name, nor told of the refusals of all", async () => {
    const token = await readFile(guarded.tokenFile, "utf8");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ node: { id: "sidecar~10.0.0.1~a.other~other.svc.cluster.local", cluster: "a" } });
    expect((await fetch(`${guarded.frontUrl}/v3/discovery:clusters`, { method: "POST", headers, body })).status).toBe(
      403,
    );
    expect((await fetch(`${guarded.frontUrl}/refusals`, { headers })).status).toBe(403);
    expect((await fetch(`${guarded.frontUrl}/refusals`)).status).toBe(401);
  });
});

describe("a front on an address that others can reach", () => {
  it("does not start before somebody has said who may read", async () => {
    const env = { ...process.env, HOST: "0.0.0.0", PORT: "0", PORTOLAN_AUTHENTICATION: "" };
    await expect(promisify(execFile)(process.execPath, [server], { env })).rejects.toMatchObject({
      stderr: expect.stringContaining("0.0.0.0 is open to other machines"),
    });
  });
});
