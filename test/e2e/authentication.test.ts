import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bookshop, openBookshop, shopHost, withWeights } from "./bookshop.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { startTraffic } from "./traffic.ts";
import { freePort } from "./upstream.ts";

const entry = (file: string) => new URL(`../../functions/${file}`, import.meta.url).pathname;
const closing: (() => unknown)[] = [];
let shop: Bookshop;
let envoy: RunningEnvoy;
let folder: string;
let frontUrl: string;

async function portolan(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, PORTOLAN_KEYRING: join(folder, "keys.json") };
  const { stdout } = await promisify(execFile)(process.execPath, [entry("cli.ts"), ...args], { env });
  return stdout.trim();
}

const push = () => portolan("push", shop.folder, "--store", join(folder, "store"));
const tokenFile = () => join(folder, "token");
const newToken = (ttl: string) =>
  portolan("token", "create", "--namespace", "bookshop", "--ttl", ttl, "--out", tokenFile());

beforeAll(async () => {
  shop = await openBookshop();
  folder = await mkdtemp(join(tmpdir(), "portolan-auth-"));
  await portolan("keys", "create", "--use", "tokens");
  await portolan("keys", "create", "--use", "tokens");
  await portolan("keys", "create", "--use", "roots");
  await push();
  const trusted = await portolan("keys", "list", "--use", "roots", "--public");
  const keys = await portolan("keys", "list", "--use", "tokens", "--public");
  const port = await freePort();
  const server = spawn(process.execPath, [entry("server.node.ts")], {
    env: {
      ...process.env,
      PORT: String(port),
      PORTOLAN_MAX_HOLD_MS: "1000",
      HOST: "0.0.0.0",
      PORTOLAN_STORE: join(folder, "store"),
      PORTOLAN_TRUSTED_KEYS: trusted,
      PORTOLAN_AUTHENTICATION: `{"tokens": ${keys}}`,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exit = new Promise((resolve) => server.once("exit", resolve));
  frontUrl = `http://127.0.0.1:${port}`;
  closing.push(
    shop.close,
    () => server.kill("SIGTERM"),
    () => exit,
    () => rm(folder, { recursive: true, force: true }),
  );
  await eventually(
    () =>
      fetch(`${frontUrl}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (ok) => ok,
  );
  await newToken("1h");
  const out = join(folder, "envoy");
  const name = "istio-ingressgateway-1.bookshop";
  await portolan(
    "bootstrap",
    name,
    "--dir",
    shop.folder,
    "--server",
    frontUrl,
    "--admin-port",
    "0",
    "--token-file",
    tokenFile(),
    "--out",
    out,
  );
  envoy = await startEnvoy(Object(load(await readFile(join(out, "envoy.yaml"), "utf8"))));
  closing.unshift(envoy.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
});

describe("an Envoy whose token lies in a file", () => {
  it("is served with it, goes on without, and follows the next one, signed with the next key, without a restart", async () => {
    const traffic = startTraffic(shop.port, shopHost, "/catalog");
    const counts = async () => traffic.counts().get("catalog-v2") ?? 0;
    await eventually(counts, (count) => count > 20);

    const failures = async () => Number(await envoy.stat("cluster_manager.cds.update_failure"));
    const before = await failures();
    await writeFile(`${tokenFile()}.new`, "no token");
    await rename(`${tokenFile()}.new`, tokenFile());
    await eventually(failures, (count) => count > before + 1, 20_000);
    await shop.edit("catalog.yaml", withWeights(0, 100));
    await push();
    expect(await counts()).toBeLessThan([...traffic.counts().values()].reduce((sum, count) => sum + count, 0) / 2);

    await portolan("keys", "rotate", "--use", "tokens");
    await newToken("1h");
    const reloads = async () =>
      Number((await envoy.stat(`http.outbound_0.0.0.0_${shop.port};.rds.http.${shop.port}.config_reload`)) ?? 0);
    await eventually(reloads, (count) => count >= 2, 20_000);
    traffic.reset();
    await eventually(counts, (count) => count > 50);
    await traffic.stop();
    expect([...traffic.counts().keys()]).toEqual(["catalog-v2"]);
  }, 60_000);

  it("is not served in another namespace's name, nor told of the refusals of all", async () => {
    const token = await readFile(tokenFile(), "utf8");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ node: { id: "sidecar~10.0.0.1~a.other~other.svc.cluster.local", cluster: "a" } });
    expect((await fetch(`${frontUrl}/v3/discovery:clusters`, { method: "POST", headers, body })).status).toBe(403);
    expect((await fetch(`${frontUrl}/refusals`, { headers })).status).toBe(403);
    expect((await fetch(`${frontUrl}/refusals`)).status).toBe(401);
  });
});

describe("a front on an address that others can reach", () => {
  it("does not start before somebody has said who may read", async () => {
    const env = { ...process.env, HOST: "0.0.0.0", PORT: "0", PORTOLAN_AUTHENTICATION: "" };
    await expect(promisify(execFile)(process.execPath, [entry("server.node.ts")], { env })).rejects.toMatchObject({
      stderr: expect.stringContaining("0.0.0.0 is open to other machines"),
    });
  });
});
