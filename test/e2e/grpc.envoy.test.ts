import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { freePort } from "../free-port.ts";
import { createAuthority } from "./certificates.ts";
import { startDev } from "./dev-process.ts";
import { eventually } from "./envoy.ts";
import { type GrpcProgram, startProgram } from "./grpc-programs.ts";
import {
  policy,
  prefixRoute,
  programPods,
  programService,
  programSlices,
  strict,
  versionsOf,
  weights,
} from "./grpc-shop.ts";

const [say, sayAll] = ["/shop.Echo/Say", "/shop.Echo/SayAll"];
const closing: (() => unknown)[] = [];
let folder = "";
let dev: Awaited<ReturnType<typeof startDev>>;
let authority = "";

const write = (file: string, text: string) => writeFile(join(folder, file), text);
const identityOf = (account: string) => ({ authority, spiffeId: `spiffe://cluster.local/ns/shop/sa/${account}` });

/** A program with the bootstrap of a pod, and the identity of an account, if any. */
async function start(pod: string, args: readonly string[], account?: string): Promise<GrpcProgram> {
  const proxy = proxiesIn(await readFolder(folder)).find((one) => one.proxy.id === `${pod}.shop`);
  if (proxy === undefined) throw new Error(`there is no ${pod}`);
  const home = await mkdtemp(join(tmpdir(), `portolan-${pod}-`));
  closing.push(() => rm(home, { recursive: true }));
  const identity = account === undefined ? undefined : identityOf(account);
  const program = await startProgram(args, { proxy, server: dev.grpcUrl, folder: home, identity });
  closing.push(program.stop);
  return program;
}

const clientOf = (host: string) => start("caller-v1", ["call", `xds:///${host}:7070`], "caller");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-grpc-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const home = await mkdtemp(join(tmpdir(), "portolan-authority-"));
  closing.push(() => rm(home, { recursive: true }));
  authority = createAuthority(home);
  const [v1, v2, vault, forged] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const servers = [
    {
      app: "echo",
      pods: [
        { name: "v1", address: "127.0.0.11", port: v1 },
        { name: "v2", address: "127.0.0.12", port: v2 },
      ],
    },
    { app: "vault", pods: [{ name: "v1", address: "127.0.0.13", port: vault }] },
    { app: "forged", pods: [{ name: "v1", address: "127.0.0.14", port: forged }] },
  ];
  const objects = servers.map(
    ({ app, pods }, at) => programService(app, `10.96.0.${at + 1}`) + programPods(app, pods) + programSlices(app, pods),
  );
  await write("servers.yaml", objects.join(""));
  await write("caller.yaml", programPods("caller", [{ name: "v1", address: "127.0.0.15", port: 1 }]));
  await write("echo.yaml", versionsOf("echo") + weights("echo", 100));
  await write("vault.yaml", ["vault", "forged"].map((app) => versionsOf(app, "ISTIO_MUTUAL") + strict(app)).join(""));
  dev = await startDev(folder, ["--grpc-port", "0"]);
  closing.push(() => dev.stop());
  await start("echo-v1", ["serve", `0.0.0.0:${v1}`, "v1"]);
  await start("echo-v2", ["serve", `0.0.0.0:${v2}`, "v2"]);
  await start("vault-v1", ["serve", `0.0.0.0:${vault}`, "vault"], "vault");
  // Whoever serves there has another identity than the pod.
  await start("forged-v1", ["serve", `0.0.0.0:${forged}`, "forged"], "somebody");
}, 120_000);

afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** What calls say, all the time until it is stopped, by how often. */
function keepCalling(client: GrpcProgram) {
  const counts = new Map<string, number>();
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      const outcome = await client.call(say);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    counts,
    async stop() {
      isOver = true;
      await done;
    },
  };
}

describe("gRPC programs on a stream", () => {
  it("call one another by their routes, weights, headers and faults", async () => {
    const client = await clientOf("echo");
    expect(await client.call(say)).toBe("v1");
    expect(await client.call(say, { who: "tester" })).toBe("v2");
    expect(await client.call(say, { broken: "yes" })).toContain("RESOURCE_EXHAUSTED");
    await client.stop();
  }, 60_000);

  it("follow a change of weights under traffic, also after the control plane was gone, and no call fails", async () => {
    const client = await clientOf("echo.shop.svc.cluster.local");
    const traffic = keepCalling(client);
    const answers = (name: string) =>
      eventually(
        () => Promise.resolve(traffic.counts.get(name) ?? 0),
        (n) => n > 20,
        60_000,
      );
    await answers("v1");
    await write("echo.yaml", versionsOf("echo") + weights("echo", 0));
    await answers("v2");
    traffic.counts.clear();
    await answers("v2");
    expect([...traffic.counts.keys()]).toEqual(["v2"]);
    const { port } = new URL(dev.grpcUrl);
    await dev.kill();
    await answers("v2");
    dev = await startDev(folder, ["--grpc-port", port]);
    await write("echo.yaml", versionsOf("echo") + weights("echo", 100));
    await answers("v1");
    await traffic.stop();
    expect([...traffic.counts.keys()].toSorted()).toEqual(["v1", "v2"]);
    await client.stop();
  }, 180_000);

  it("speak mutual TLS with the certificates of their provider, and only with whom they expect", async () => {
    const client = await clientOf("vault");
    expect(await client.call(say)).toBe("vault");
    await client.stop();
    const deceived = await clientOf("forged");
    expect(await deceived.call(say)).toContain("UNAVAILABLE");
    await deceived.stop();
  }, 60_000);

  it("let in whom a policy names, and nobody where it has no rules", async () => {
    const client = await clientOf("vault");
    const outcomes = async () => `${await client.call(say)}, ${await client.call(sayAll)}`;
    expect(await outcomes()).toBe("vault, vault");
    const allowed = {
      from: [{ source: { principals: ["cluster.local/ns/shop/sa/caller"] } }],
      to: [{ operation: { paths: [say] } }],
    };
    await write("policy.yaml", policy("vault", { action: "ALLOW", rules: [allowed] }));
    const some = await eventually(outcomes, (text) => text !== "vault, vault", 60_000);
    expect(some).toMatch(/^vault, PERMISSION_DENIED/);
    await write("policy.yaml", policy("vault", { action: "ALLOW" }));
    const none = await eventually(outcomes, (text) => !text.startsWith("vault"), 60_000);
    expect(none).toMatch(/^PERMISSION_DENIED.*, PERMISSION_DENIED/);
    await rm(join(folder, "policy.yaml"));
    await eventually(outcomes, (text) => text === "vault, vault", 60_000);
    await client.stop();
  }, 180_000);

  it("take the tables of their hosts, whatever Istio would have put into them", async () => {
    await write(
      "cors.yaml",
      weights("vault", 100).replace(
        "    - route:",
        "    - corsPolicy: { allowOrigins: [{ exact: 'https://shop.example' }] }\n      route:",
      ),
    );
    await write("route.yaml", prefixRoute("forged", "/shop.Echo", "echo"));
    const [vault, forged] = [await clientOf("vault"), await clientOf("forged")];
    expect(await vault.call(say)).toBe("vault");
    expect(
      await eventually(
        () => forged.call(say),
        (text) => text === "v1" || text === "v2",
        60_000,
      ),
    ).toMatch(/^v[12]$/);
    for (const one of [vault, forged]) await one.stop();
  }, 120_000);
});
