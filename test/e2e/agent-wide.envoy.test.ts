/** An Envoy with an agent in a mesh of thousands of services: none of what it has costs it a file to watch. */
import { readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileResources } from "../../lib/agent/bootstrap.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { freePort } from "../free-port.ts";
import { type WideEndpoint, type WideMesh, wideHost, wideMesh } from "../wide-mesh.ts";
import { type AgentProcess, agentFolder, clearAgent, startAgent } from "./agent-process.ts";
import { eventually, startEnvoy } from "./envoy.ts";
import { get } from "./sidecars.ts";
import { failures, startTraffic } from "./traffic.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** A front for a wide mesh, and the pod's agent with its Envoy. */
async function openWide(first: Omit<WideMesh, "port" | "endpointOf">) {
  const port = await freePort();
  const upstreams: readonly Upstream[] = [await startUpstream("one"), await startUpstream("two")];
  const at = (place: number): WideEndpoint => ({ ip: "127.0.0.1", port: upstreams[place]?.port ?? 0 });
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "none" });
  const filesOf = (mesh: Omit<WideMesh, "port">) => [wideMesh({ endpointOf: () => at(0), ...mesh, port })];
  const publish = async (mesh: Omit<WideMesh, "port">) => {
    await publisher.publish(compile(filesOf(mesh), []).value, await publisher.head());
  };
  await publish(first);
  const front = createFront({ store, maxHoldMs: 25_000, headTtlMs: 50 });
  const server = await serveHttp(frontApp(front), 0);
  const [client] = proxiesIn(filesOf(first));
  if (client === undefined) throw new Error("the mesh has a client");
  const folder = await agentFolder();
  const bootstrap = bootstrapFor(client, server.url, 0, { certificates: "none" });
  const agent: AgentProcess = await startAgent({ folder, bootstrap, args: ["--server", server.url] });
  const ask = (service: number) =>
    get({ host: "127.0.0.1", port, path: "/", headers: { host: `${wideHost(service)}:${port}` } }).catch(() => ({
      status: 0,
      body: "",
    }));
  return {
    port,
    at,
    agent,
    folder,
    bootstrap,
    server: server.url,
    publish,
    ask,
    clusters: async () => Number(await agent.stat("cluster_manager.active_clusters")),
    /** Until a service answers. */
    answers: async (service: number, body = "one") => {
      await eventually(
        () => ask(service),
        (answer) => answer.body === body,
        60_000,
      ).catch((cause) => {
        throw new Error(`${cause}\n${briefly(agent.log())}`);
      });
    },
    async close() {
      await agent.end("SIGKILL");
      await clearAgent(folder);
      front.close();
      await server.close();
      for (const upstream of upstreams) await upstream.close();
    },
  };
}

/** A log without what Envoy says of each of thousands of routes. */
const briefly = (log: string): string =>
  log
    .split("\n")
    .filter((line) => !line.includes("Deprecated field"))
    .join("\n");

/** How many inotify instances a process has. */
async function watchesOf(pid: number): Promise<number> {
  const names = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return links.filter((link) => link.includes("inotify")).length;
}

describe("an Envoy with an agent in a wide mesh", () => {
  let wide: Awaited<ReturnType<typeof openWide>> | undefined;
  beforeEach(() => {
    wide = undefined;
  });
  afterEach(() => wide?.close());

  it("has a route table of 1,000 services that stands behind a short one, and what changes in it", async () => {
    const services = 1_000;
    wide = await openWide({ services, egress: ["./*"] });
    await wide.answers(0);
    await wide.answers(services - 1);
    const { at } = wide;
    await wide.publish({
      services: services + 1,
      egress: ["./*"],
      endpointOf: (number) => at(number < services ? 0 : 1),
    });
    await wide.answers(services, "two");
    expect(wide.agent.log()).not.toMatch(/refuses|nothing new can be learnt/);
    expect(await wide.agent.end("SIGTERM")).toBe(0);
  }, 180_000);

  it("goes from 2 clusters to 5,000 under traffic, follows their endpoints, and starts with them, without a front too", async () => {
    const services = 5_000;
    const opened = await openWide({ services, egress: [`./${wideHost(0)}`, `./${wideHost(1)}`] });
    wide = opened;
    const { publish, answers, agent, clusters, at, port } = opened;
    await answers(0);
    expect(await clusters()).toBeLessThan(20);
    const traffic = startTraffic(port, `${wideHost(0)}:${port}`);
    const widenedMs = performance.now();
    await publish({ services, egress: ["./*"] });
    const publishedMs = performance.now();
    await answers(services - 1);
    const inForceMs = performance.now();
    expect(await clusters()).toBeGreaterThanOrEqual(services);
    const pid = await agent.envoyPid();
    expect(await watchesOf(pid)).toBeLessThan(10);
    await publish({ services, egress: ["./*"], endpointOf: (number) => at(number === 4_321 ? 1 : 0) });
    const movedMs = performance.now();
    await answers(4_321, "two");
    const followedMs = performance.now();
    await traffic.stop();
    expect(failures(traffic, ["one"])).toEqual(new Map());
    expect([await agent.envoyPid(), agent.log().match(/Envoy (ended|refuses).*/g)]).toEqual([pid, null]);
    console.log(
      `5,000 clusters, measured: published in ${Math.round(publishedMs - widenedMs)} ms, in force ${Math.round(inForceMs - publishedMs)} ms after that; an endpoint in force ${Math.round(followedMs - movedMs)} ms after it was published; ${[...traffic.counts().values()].reduce((sum, count) => sum + count, 0)} requests meanwhile, none failed`,
    );
    // The agent has it on disk, and a new Envoy has it from there.
    process.kill(pid, "SIGKILL");
    const killedMs = performance.now();
    await eventually(
      () => agent.envoyPid(),
      (next) => next !== pid,
    );
    await answers(4_321, "two");
    console.log(
      `5,000 clusters, measured: in force ${Math.round(performance.now() - killedMs)} ms after Envoy was killed`,
    );
  }, 300_000);

  it("has files of 1,000 clusters that an Envoy without an agent reads, few of them to watch, and that an agent begins with", async () => {
    const services = 1_000;
    const opened = await openWide({ services, egress: ["./*"] });
    wide = opened;
    await opened.answers(0);
    // The port is free for the other Envoy.
    expect(await opened.agent.end("SIGTERM")).toBe(0);
    const { folder, bootstrap } = opened;
    await rm(join(folder, "taken.log"));
    const once = await startAgent({ folder, bootstrap, args: ["--server", opened.server, "--once"] });
    expect(await once.ended, once.log()).toBe(0);
    const files = JSON.stringify({ ...bootstrap, dynamicResources: fileResources(folder) });
    const envoy = await startEnvoy(JSON.parse(files));
    try {
      await opened.answers(services - 1);
      expect(Number(await envoy.stat("cluster_manager.active_clusters"))).toBeGreaterThanOrEqual(services);
      expect(await envoy.stat("cluster_manager.cds.update_rejected")).toBe(0);
      expect(await watchesOf(envoy.pid)).toBeLessThan(10);
    } finally {
      await envoy.stop();
    }
    // An agent in the folder begins with the same.
    const alone = await startAgent({ folder, bootstrap, args: ["--server", "http://127.0.0.1:1"] });
    await opened.answers(services - 1);
    expect(await alone.end("SIGTERM")).toBe(0);
  }, 180_000);
});
