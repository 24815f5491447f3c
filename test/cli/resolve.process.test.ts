import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf } from "../../lib/base/untyped.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.ts";
import { type Issuer, openIssuer } from "../resolve/issuer.ts";

const cli = await program("cli");

let issuer: Issuer;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  issuer = await openIssuer();
  folder = await mkdtemp(join(tmpdir(), "portolan-resolve-"));
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, issuer.caBundle);
  env = {
    ...process.env,
    PORTOLAN_RESOLVER_ALLOWED_HOSTS: "localhost",
    PORTOLAN_RESOLVER_CA_BUNDLE: `@${caFile}`,
  };
  await writeFile(join(folder, "shop.yaml"), objects());
});
afterAll(async () => {
  await issuer.close();
  await rm(folder, { recursive: true, force: true });
});

const objects = () => `apiVersion: v1
kind: Pod
metadata: { name: web-1, namespace: shop, labels: { app: web, security.istio.io/tlsMode: istio } }
spec: { containers: [{ name: web, ports: [{ containerPort: 80 }] }] }
status: { phase: Running, podIP: 10.0.0.1, podIPs: [{ ip: 10.0.0.1 }] }
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: shop }
spec: { jwtRules: [{ issuer: "${issuer.url}" }] }
`;

/** @returns what a command prints, and its exit code */
async function portolan(...args: readonly string[]) {
  return promisify(execFile)(process.execPath, [cli, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (cause: unknown) => {
      const { code, stdout, stderr } = fieldsOf(cause);
      return { code, stdout: String(stdout), stderr: String(stderr) };
    },
  );
}

describe("portolan resolve", () => {
  it("reads what a push wants, publishes it, and fails where it cannot", async () => {
    const store = join(folder, ".store");
    const pushed = await portolan("push", folder, "--store", store);
    expect(pushed.stdout + pushed.stderr).toContain("jwks-not-fetched");
    const resolved = await portolan("resolve", "--store", store);
    expect(resolved).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/jwks +https:\/\/localhost:\d+ +fresh +1 key /),
    });
    expect(resolved.stdout).toContain("published: generation 2");
    issuer.answer((_request, response) => response.writeHead(503).end());
    const failed = await portolan("resolve", "--store", store, "--json");
    issuer.answer(undefined);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ lookups: [{ state: "stale", keys: 1 }] });
    expect(failed.stderr).toContain("1 look-up failed");
    const status = await portolan("status", "--store", store);
    expect(status.stdout).toMatch(/^keys +https:\/\/localhost:\d+ {2}as of 2\S+: .*answers 503/m);
  }, 120_000);
});

describe.each(["dev", "serve"] as const)("portolan %s", (command) => {
  it("has the keys of an issuer in force by itself", async () => {
    const store = join(folder, `.store-${command}`);
    const port = String(await freePort());
    const settings = join(folder, "..", `portolan-resolve-${port}.yaml`);
    if (command === "serve") {
      const collectors = [{ kind: "dir", folder, source: "main" }];
      await writeFile(settings, JSON.stringify({ store, front: { port: Number(port) }, compile: {}, collectors }));
    }
    const args =
      command === "dev" ? ["dev", folder, "--port", port, "--store", store] : ["serve", "--settings", settings];
    const child = spawn(process.execPath, [cli, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
    createInterface(child.stdout).on("line", () => {});
    try {
      const body = JSON.stringify({
        node: {
          id: "sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local",
          cluster: "web.shop",
          metadata: { NAMESPACE: "shop" },
        },
      });
      const listeners = async () => {
        const headers = { "content-type": "application/json" };
        const asked = fetch(`http://127.0.0.1:${port}/v3/discovery:listeners`, { method: "POST", headers, body });
        const text = (await (await asked.catch(() => undefined))?.text()) ?? "";
        return text.includes("key-1");
      };
      await expect.poll(listeners, { timeout: 60_000 }).toBe(true);
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(metrics).toMatch(/portolan_resolver_age_seconds\{kind="jwks",host="localhost:\d+"\} \d/);
      expect(metrics).toMatch(/portolan_resolver_failures_total\{kind="jwks",host="localhost:\d+"\} 0/);
    } finally {
      child.kill("SIGTERM");
      await new Promise((ended) => child.once("exit", ended));
      await rm(settings, { force: true });
    }
  }, 120_000);
});
