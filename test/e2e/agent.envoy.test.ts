import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { heldResource, holdingOf } from "../../lib/agent/source/resources.ts";
import { hashOf } from "../../lib/base/blob.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { type CompiledResource, type CompiledWorld, resourcesIn } from "../../lib/snapshot/compiled.ts";
import { exportSnapshot } from "../../lib/snapshot/head/head-operations.ts";
import type { Trust } from "../../lib/snapshot/head/signatures.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { type CoreType, typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { createTreeEncoder } from "../../lib/snapshot/worlds/encode-tree.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { type AgentProcess, agentFolder, clearAgent, startAgent } from "./agent-process.ts";
import { type Bookshop, openBookshop, serverNames, shopHost, withWeights } from "./bookshop.ts";
import { eventually } from "./envoy.ts";
import { saveNewServices } from "./new-services.ts";
import { get } from "./sidecars.ts";
import { failures, startTraffic } from "./traffic.ts";

/** A front for one bookshop, and what publishes to it. */
async function openShop(trust: Trust = {}) {
  const shop = await openBookshop();
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, ...trust });
  const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "none" });
  const compiled = async () => compile(await readFolder(shop.folder), []).value;
  const publish = async (world?: CompiledWorld) => {
    await publisher.publish(world ?? (await compiled()), await publisher.head());
  };
  await publish();
  const serve = async (port = 0) => {
    const front = createFront({ store, maxHoldMs: 25_000, headTtlMs: 50 });
    const app = frontApp(front);
    const server = await serveHttp(app, port);
    return {
      url: server.url,
      refusals: async (): Promise<string> => (await app.request("/refusals")).text(),
      async close() {
        front.close();
        await server.close();
      },
    };
  };
  const gateway = proxiesIn(await readFolder(shop.folder)).find(({ proxy }) => proxy.type === "router");
  if (gateway === undefined) throw new Error("the bookshop has a gateway");
  return {
    shop,
    store,
    compiled,
    publish,
    serve,
    bootstrap: bootstrapFor(gateway, "http://127.0.0.1:9", 0, { certificates: "none" }),
  };
}

const routes = async (shop: Bookshop, weights: readonly [number, number]) =>
  shop.edit("catalog.yaml", withWeights(...weights));

/** A route table that Envoy refuses. */
const twoWildcards = (name: string) => ({
  name,
  virtualHosts: ["a", "b"].map((host) => ({ name: host, domains: ["*"] })),
});

/** A world with one more resource, for streams. */
function withResource(
  world: CompiledWorld,
  type: CoreType,
  json: { readonly name: string; readonly [member: string]: unknown },
): CompiledWorld {
  const text = JSON.stringify({ "@type": typeUrlOf(type), ...json });
  const from = [`EnvoyFilter/bookshop/${json.name}`];
  const resource: CompiledResource = { name: json.name, text, version: hashOf(text), from };
  return {
    ...world,
    classes: world.classes.map((one) => ({
      ...one,
      stream: {
        ...one.stream,
        [type]: [
          [...resourcesIn(one.stream[type]).filter(({ name }) => name !== json.name), resource].toSorted((a, b) =>
            a.name < b.name ? -1 : 1,
          ),
        ],
      },
    })),
  };
}

/** A user of no rights, as Linux has it. */
const nobody = 65_534;

describe("an Envoy with an agent", () => {
  let opened: Awaited<ReturnType<typeof openShop>>;
  let front: Awaited<ReturnType<(typeof opened)["serve"]>>;
  let folder: string;
  let agents: AgentProcess[] = [];

  beforeAll(async () => {
    folder = await agentFolder();
    opened = await openShop();
    front = await opened.serve();
    return async () => {
      await front.close();
      await opened.shop.close();
    };
  });

  const start = async (args: readonly string[] = ["--server", front.url], bootstrap: object = opened.bootstrap) => {
    const agent = await startAgent({ folder, bootstrap, args });
    agents.push(agent);
    return agent;
  };
  const isLive = (agent: AgentProcess) =>
    eventually(
      () => agent.admin("/ready"),
      (text) => text.startsWith("LIVE"),
      30_000,
    ).catch(() => {
      throw new Error(`not live\n${agent.log()}`);
    });

  afterEach(async () => {
    for (const agent of agents) await agent.end("SIGKILL");
    agents = [];
    await clearAgent(folder);
    folder = await agentFolder();
  });

  /** Status of the shop's answer; 0 when there is none. */
  const answers = () =>
    get({ host: "127.0.0.1", port: opened.shop.port, path: "/catalog", headers: { host: shopHost } }).then(
      ({ status }) => status,
      () => 0,
    );
  const reloads = async (agent: AgentProcess) =>
    Number(
      (await agent.stat(`http.outbound_0.0.0.0_${opened.shop.port};.rds.http.${opened.shop.port}.config_reload`)) ?? 0,
    );

  it("follows changes of routes, clusters and endpoints under traffic, and no request fails", async () => {
    const agent = await start();
    await isLive(agent);
    const traffic = startTraffic(opened.shop.port, shopHost, "/catalog");
    for (let i = 0; i < 9; i += 1) {
      const before = await reloads(agent);
      const modified = Number((await agent.stat("cluster_manager.cluster_modified")) ?? 0);
      if (i % 3 === 2) {
        await opened.shop.edit("catalog.yaml", (text) =>
          text.replace(
            /host: catalog\n( {2}trafficPolicy:.*\n)?/,
            `host: catalog\n  trafficPolicy: {connectionPool: {tcp: {maxConnections: ${100 + i}}}}\n`,
          ),
        );
        await opened.publish();
        await eventually(
          async () => Number((await agent.stat("cluster_manager.cluster_modified")) ?? 0),
          (count) => count > modified,
          20_000,
        );
      } else {
        await routes(opened.shop, [10 + i, 90 - i]);
        await opened.publish();
        await eventually(
          () => reloads(agent),
          (count) => count > before,
          20_000,
        );
      }
    }
    await traffic.stop();
    expect(failures(traffic, serverNames)).toEqual(new Map());
    expect(await agent.end("SIGTERM")).toBe(0);
    expect(agent.log()).not.toContain("refuses");
  }, 120_000);

  it("tells on a port of its own whether it is ready, and its metrics with Envoy's", async () => {
    const agent = await start(["--server", "http://127.0.0.1:1", "--status-port", "0", "--status-host", "127.0.0.1"]);
    const said = await eventually(
      async () => agent.log(),
      (log) => log.includes("serves its status on port"),
    );
    const url = `http://127.0.0.1:${/status on port (\d+)/.exec(said)?.[1]}`;
    const unready = await fetch(`${url}/healthz/ready`);
    expect([unready.status, await unready.text()]).toEqual([503, "no Envoy runs\n"]);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain("portolan_agent_envoy_up 0");
    await agent.end("SIGTERM");
    const fed = await start(["--server", front.url, "--status-port", new URL(url).port, "--status-host", "127.0.0.1"]);
    await isLive(fed);
    await eventually(
      () => fetch(`${url}/healthz/ready`),
      ({ status }) => status === 200,
    );
    const metrics = await (await fetch(`${url}/stats/prometheus`)).text();
    expect(metrics).toMatch(/^portolan_agent_envoy_up 1$/m);
    expect(metrics).toMatch(/^envoy_cluster_manager_cds_update_success\{\} [1-9]/m);
    process.kill(await fed.envoyPid(), "SIGSTOP");
    const stuck = await fetch(`${url}/healthz/ready`);
    expect([stuck.status, await stuck.text()]).toEqual([503, "Envoy does not answer\n"]);
    process.kill(await fed.envoyPid(), "SIGCONT");
  }, 60_000);

  it("comes back by itself when it is killed, from its files when there is no front", async () => {
    const first = await start();
    await isLive(first);
    expect(await first.end("SIGTERM")).toBe(0);
    expect(await answers()).toBe(0);
    const alone = await start(["--server", "http://127.0.0.1:1"]);
    await isLive(alone);
    expect(await answers()).toBe(200);
    expect(alone.log()).toMatch(/nothing new can be learnt: .*ECONNREFUSED.*Envoy keeps what it has/);
    const before = await alone.envoyPid();
    process.kill(before, "SIGKILL");
    await eventually(
      () => alone.envoyPid(),
      (pid) => pid !== before,
    );
    await eventually(answers, (status) => status === 200);
    expect(alone.log()).toMatch(/Envoy ended \(SIGKILL\); it is started again in 0\.25 s/);
  }, 60_000);

  it("goes on when its agent is killed, and the next agent takes it over", async () => {
    const first = await start();
    await isLive(first);
    const pid = await first.envoyPid();
    await first.end("SIGKILL");
    expect(await answers()).toBe(200);
    const second = await start();
    await eventually(
      async () => second.log(),
      (log) => log.includes("still runs from before"),
    );
    const before = await reloads(second);
    await routes(opened.shop, [33, 67]);
    await opened.publish();
    await eventually(
      () => reloads(second),
      (count) => count > before,
    );
    expect(await second.envoyPid()).toBe(pid);
    expect(await second.end("SIGTERM")).toBe(0);
    expect(await answers()).toBe(0);
  }, 60_000);

  it("puts an Envoy of its own in the place of one that does not ask it", async () => {
    const first = await start();
    await isLive(first);
    const before = await first.envoyPid();
    await first.end("SIGKILL");
    // As an agent of an earlier version left it: its Envoy reads files.
    const started = join(folder, "good", "envoy.json");
    await writeFile(started, (await readFile(started, "utf8")).replaceAll("/xds/socket", "/cds.json"));
    const second = await start();
    await eventually(
      () => second.envoyPid(),
      (pid) => pid !== before,
    );
    await isLive(second);
    await eventually(answers, (status) => status === 200);
    expect(second.log()).toMatch(/still runs from before, and does not ask at .*: another one takes its place/);
  }, 60_000);

  it("refuses one cluster and one listener without their neighbours, and the front hears its words", async () => {
    const agent = await start();
    await isLive(agent);
    const good = await opened.compiled();
    const cluster = (name: string, connectTimeout: string) => ({ name, type: "STATIC", connectTimeout });
    const bad = [
      ["clusters", cluster("zz-broken", "-1s")],
      ["clusters", cluster("zz-good", "1s")],
      ["clusters", cluster("aa-good", "1s")],
      ["listeners", { name: "no-address" }],
    ] as const;
    await opened.publish(bad.reduce((world, [type, json]) => withResource(world, type, json), good));
    const told = await eventually(
      front.refusals,
      (text) => text.includes("zz-broken") && text.includes("no-address"),
      20_000,
    ).catch(async (cause) => {
      throw new Error(`${cause}\n${agent.log()}\n${await front.refusals()}`);
    });
    const { refusals }: { readonly refusals: readonly { readonly type: string }[] } = JSON.parse(told);
    expect(refusals.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toMatchObject([
      {
        type: "clusters",
        error: expect.stringContaining("positive duration"),
        suspects: [{ name: "zz-broken", from: ["EnvoyFilter/bookshop/zz-broken"] }],
      },
      {
        type: "listeners",
        error: "no-address: error adding listener named 'no-address': address is necessary",
        suspects: [{ name: "no-address" }],
      },
    ]);
    await eventually(
      () => agent.admin("/clusters"),
      (text) => text.includes("zz-good") && text.includes("aa-good"),
    );
    expect(await answers()).toBe(200);
    expect(agent.log()).toMatch(/Envoy refuses clusters "zz-broken", and keeps what it has of it: .*positive duration/);
    await opened.publish(good);
    await eventually(front.refusals, (text) => !text.includes("zz-broken") && !text.includes("no-address"));
    await eventually(
      () => agent.admin("/clusters"),
      (text) => !text.includes("zz-good"),
    );
  }, 60_000);

  it("keeps the route table that it had when the next is refused, also when it is started again", async () => {
    const agent = await start();
    await isLive(agent);
    const good = await opened.compiled();
    await opened.publish(withResource(good, "routes", twoWildcards(`http.${opened.shop.port}`)));
    await eventually(front.refusals, (text) => text.includes("single wildcard"), 20_000).catch((cause) => {
      throw new Error(`${cause}\n${agent.log()}`);
    });
    expect(await answers(), agent.log()).toBe(200);
    await agent.end("SIGTERM");
    const again = await start(["--server", "http://127.0.0.1:1"]);
    await isLive(again);
    expect(await answers()).toBe(200);
    await opened.publish(good);
  }, 60_000);

  it("hears what Envoy makes of something new also when that takes it long", async () => {
    const agent = await start();
    await isLive(agent);
    const good = await opened.compiled();
    const pid = await agent.envoyPid();
    process.kill(pid, "SIGSTOP");
    await opened.publish(withResource(good, "routes", twoWildcards(`http.${opened.shop.port}`)));
    await sleep(6_000);
    process.kill(pid, "SIGCONT");
    await eventually(front.refusals, (text) => text.includes("single wildcard"), 30_000).catch(() => {
      throw new Error(`no refusal\n${agent.log()}`);
    });
    expect(await answers(), agent.log()).toBe(200);
    await agent.end("SIGTERM");
    const again = await start(["--server", "http://127.0.0.1:1"]);
    await isLive(again);
    expect(await answers()).toBe(200);
    await opened.publish(good);
  }, 90_000);

  it("starts with the bootstrap that it took last when the next is refused, and ends when there is none", async () => {
    const first = await start();
    await isLive(first);
    await first.end("SIGTERM");
    const broken = { ...opened.bootstrap, unknownField: 1 };
    const second = await start(undefined, broken);
    await isLive(second);
    expect(second.log()).toMatch(/Envoy refuses its bootstrap, .*unknownField.*started with the last one that it took/);
    await second.end("SIGTERM");
    await clearAgent(folder);
    folder = await agentFolder();
    const third = await start(undefined, broken);
    expect(await third.ended).toBe(1);
    expect(third.log()).toMatch(/portolan: Envoy refuses its bootstrap, .*unknownField/);
  }, 60_000);

  it("reports an Envoy that ends again and again, waits longer each time, and ends as it did where that is asked for", async () => {
    const program = join(folder, "ends-soon");
    await writeFile(
      program,
      '#!/bin/sh\ncase "$*" in *validate*) exit 0;; esac\necho "[error] out of luck" >&2\nexit 7\n',
    );
    await chmod(program, 0o755);
    const agent = await start(["--server", front.url, "--envoy", program, "--max-restarts", "3"]);
    expect(await agent.ended).toBe(7);
    const pauses = [...agent.log().matchAll(/Envoy ended \(exit code 7\).*started again in ([\d.]+) s/g)];
    expect(pauses.map(([, seconds]) => seconds)).toEqual(["0.25", "0.5", "1"]);
    expect(agent.log()).toMatch(
      /4 times in a row soon after its start; its last output: .*out of luck; that was once too often/,
    );
  }, 60_000);

  it("adds services with the routes to them, each in the place of the one before, and no request fails", async () => {
    const agent = await start();
    await isLive(agent);
    const { failures: failed, requests } = await saveNewServices(opened.shop, 8, () => opened.publish());
    expect([failed, requests > 100]).toEqual([new Map(), true]);
    expect(agent.log()).not.toContain("refuses");
  }, 120_000);

  it("sends extensions that it has no descriptor of, and leaves it to Envoy what it makes of fields that are new to both", async () => {
    const agent = await start();
    await isLive(agent);
    const good = await opened.compiled();
    const type = (name: string) => `type.googleapis.com/envoy.extensions.transport_sockets.${name}`;
    const raw = { name: "raw", typedConfig: { "@type": type("raw_buffer.v3.RawBuffer") } };
    const around = { "@type": type("http_11_proxy.v3.Http11ProxyUpstreamTransport"), transportSocket: raw };
    const strange = { "@type": type("raw_buffer.v3.RawBuffer"), brandNew: true };
    const cluster = (name: string, typedConfig: object) => ({
      name,
      type: "STATIC",
      connectTimeout: "1s",
      transportSocket: { name: "socket", typedConfig },
    });
    await opened.publish(
      [cluster("zz-around", around), cluster("zz-strange", strange)].reduce(
        (world, json) => withResource(world, "clusters", json),
        good,
      ),
    );
    await eventually(front.refusals, (text) => text.includes("brandNew"), 20_000).catch((cause) => {
      throw new Error(`${cause}\n${agent.log()}`);
    });
    const clusters = await eventually(
      () => agent.admin("/clusters"),
      (text) => text.includes("zz-around::"),
    );
    expect(clusters.includes("zz-strange::"), agent.log()).toBe(false);
    await opened.publish(good);
    await eventually(front.refusals, (text) => !text.includes("brandNew"));
  }, 60_000);

  it("leaves out what Envoys have ended over twice, and says so without a stack", async () => {
    // As another user where that may be: Envoys of other tests would have none left meanwhile, and end too.
    const agent = await startAgent({ folder, bootstrap: opened.bootstrap, args: ["--server", front.url], uid: nobody });
    agents.push(agent);
    await isLive(agent);
    await eventually(answers, (status) => status === 200);
    const good = await opened.compiled();
    // Each costs Envoy an inotify instance, of which a user has 128: one that gets none aborts.
    const watched = join(folder, "watched.json");
    await writeFile(watched, '{"version_info":"1","resources":[]}');
    const edsConfig = { pathConfigSource: { path: watched }, resourceApiVersion: "V3" };
    const many = Array.from({ length: 300 }, (_, at) => `watching-${at}`);
    const deadly = many.reduce(
      (world, name) =>
        withResource(world, "clusters", { name, type: "EDS", connectTimeout: "1s", edsClusterConfig: { edsConfig } }),
      good,
    );
    const first = await agent.envoyPid();
    await opened.publish(deadly);
    const said = await eventually(
      async () => agent.log(),
      (log) => log.includes("it is left out until something else comes"),
      60_000,
    ).catch(() => {
      throw new Error(`not left out\n${agent.log()}`);
    });
    const ends = [...said.matchAll(/^portolan agent: Envoy ended \((\w+)\).*$/gm)];
    expect(ends.map(([, signal]) => signal)).toEqual(["SIGABRT", "SIGABRT"]);
    expect(ends.map(([line]) => line).join()).not.toMatch(/#\d+:|0x[0-9a-f]+/);
    expect(ends[0]?.[0]).toContain("assert failure");
    await eventually(answers, (status) => status === 200, 20_000);
    await sleep(6_000);
    expect(await answers(), agent.log()).toBe(200);
    expect([...agent.log().matchAll(/Envoy ended/g)].length).toBe(3);
    const last = await agent.envoyPid();
    expect(last).not.toBe(first);
    // Something else is tried again, and only that.
    await opened.publish(
      withResource(good, "clusters", { name: "something-else", type: "STATIC", connectTimeout: "1s" }),
    );
    await eventually(
      () => agent.admin("/clusters"),
      (text) => text.includes("something-else"),
    );
    expect(await agent.envoyPid()).toBe(last);
    await opened.publish(good);
  }, 120_000);

  it("says goodbye to connections before it ends, and waits for the last one where that is asked for", async () => {
    const agent = await start(["--server", front.url, "--drain", "1", "--drain-until-idle"]);
    await isLive(agent);
    await eventually(answers, (status) => status === 200);
    const stays = connect(opened.shop.port, "127.0.0.1");
    await once(stays, "connect");
    const ended = agent.end("SIGTERM");
    await sleep(500);
    // Not one that says itself that it is its last.
    const asks = connect(opened.shop.port, "127.0.0.1");
    asks.write(`GET /catalog HTTP/1.1\r\nhost: ${shopHost}\r\n\r\n`);
    const said = await text(asks);
    expect(said).toMatch(/^HTTP\/1.1 200 /);
    expect(said).toMatch(/^connection: close\r$/m);
    await sleep(2_000);
    expect(await Promise.race([ended, sleep(0, "goes on")])).toBe("goes on");
    stays.destroy();
    expect(await ended).toBe(0);
  }, 60_000);

  it("has its folder to itself", async () => {
    const first = await start();
    await isLive(first);
    const second = await start();
    expect(await second.ended).toBe(1);
    expect(second.log()).toMatch(/another agent, process \d+, works in/);
    expect(await answers()).toBe(200);
  }, 60_000);

  it("begins with what Envoy had taken before where a line of its log is not whole", async () => {
    const first = await start();
    await isLive(first);
    const log = join(folder, "taken.log");
    await eventually(
      () => readFile(log, "utf8").catch(() => ""),
      (text) => text.includes(" listeners "),
    );
    await first.end("SIGTERM");
    // A change that was written in part: what stands before it counts.
    const whole = await readFile(log, "utf8");
    const table = whole.split("\n").find((line) => line.includes(" routes ")) ?? "";
    await writeFile(log, `${whole}${table.slice(0, table.length / 2)}`);
    const second = await start(["--server", "http://127.0.0.1:1"]);
    await isLive(second);
    expect(await answers()).toBe(200);
    expect(second.log()).toContain("1 lines of taken.log were not whole: what Envoy had taken before counts");
  }, 60_000);
});

describe("an agent that trusts a key", () => {
  let opened: Awaited<ReturnType<typeof openShop>>;
  let signer: SigningJwk;
  let folder: string;
  let keys: string;
  let agent: AgentProcess | undefined;

  beforeAll(async () => {
    signer = await makeSigningKey("roots");
    opened = await openShop({ signer });
    return () => opened.shop.close();
  });

  beforeEach(async () => {
    folder = await agentFolder();
    keys = join(folder, "keys.json");
    await writeFile(keys, JSON.stringify(publicPart(signer)));
    return async () => {
      await agent?.end("SIGKILL");
      await clearAgent(folder);
    };
  });

  /** A front whose answers somebody on the way rewrites. */
  const lyingFront = async (rewrite: (path: string, body: string) => string) => {
    const front = await opened.serve();
    const liar = createServer(async (request, response) => {
      const body = await text(request);
      const given = await fetch(`${front.url}${request.url}`, {
        ...(request.method === "POST" ? { method: "POST", body } : {}),
        headers: { "content-type": "application/json" },
      });
      response.writeHead(given.status);
      const said = await given.text();
      response.end(given.status === 200 ? rewrite(request.url ?? "", said) : said);
    });
    await new Promise<void>((listening) => liar.listen(0, "127.0.0.1", listening));
    const address = liar.address();
    const port = typeof address === "object" ? address?.port : 0;
    return {
      url: `http://127.0.0.1:${port}`,
      async close() {
        liar.closeAllConnections();
        liar.close();
        await front.close();
      },
    };
  };
  const start = async (args: readonly string[]) => {
    agent = await startAgent({ folder, bootstrap: opened.bootstrap, args: [...args, "--trusted-keys", keys] });
    return agent;
  };
  const isLive = (started: AgentProcess) =>
    eventually(
      () => started.admin("/ready"),
      (state) => state.startsWith("LIVE"),
      20_000,
    ).catch(() => {
      throw new Error(`not live\n${started.log()}`);
    });

  it("follows a front that shows where the signed HEAD leads", async () => {
    const front = await opened.serve();
    const started = await start(["--server", front.url]);
    await isLive(started);
    const versions = async () => (await started.admin("/stats?filter=rds.*version_text")).trim();
    const before = await versions();
    await routes(opened.shop, [41, 59]);
    await opened.publish();
    await eventually(versions, (now) => now !== before);
    expect(started.log()).not.toContain("nothing new can be learnt");
    await front.close();
  }, 60_000);

  it.each([
    [
      "a resource that was changed on the way",
      (path: string, body: string) =>
        isAbout("routes", path, body) ? body.replace("catalog.bookshop", "evil.bookshop") : body,
      "does not come to the version that it names",
    ],
    ["half an answer", (_path: string, body: string) => body.slice(0, body.length / 2), "is no JSON"],
    ["a HEAD without its signature", dropSignature, "signed with none of the trusted keys"],
    [
      "a world that nobody has signed",
      (path: string, body: string) => {
        if (!isAbout("clusters", path, body)) return body;
        const { text: evil, version } = evilCluster();
        return `{"system_version_info":"${version}","resources":[{"name":"evil","version":"x","resource":${evil}}]}`;
      },
      "does not lead this node to",
    ],
  ])(
    "does not believe %s, and says why",
    async (_what, rewrite, why) => {
      const liar = await lyingFront(rewrite);
      const started = await start(["--server", liar.url]);
      await eventually(
        async () => started.log(),
        (log) => log.includes(why),
        20_000,
      );
      expect(await started.admin("/ready")).toBe("");
      await liar.close();
    },
    60_000,
  );

  it("reads an exported folder, and follows no older HEAD that somebody puts there", async () => {
    const carried = join(folder, "carried");
    await exportSnapshot(opened.store, fileStore(carried), { signer });
    const started = await start(["--snapshot", carried]);
    await isLive(started);
    await started.end("SIGTERM");
    expect(JSON.parse(await readFile(join(folder, "generation.json"), "utf8"))).toMatchObject({
      generation: expect.any(Number),
    });
    await writeFile(join(folder, "generation.json"), JSON.stringify({ generation: 1_000 }));
    const second = await start(["--snapshot", carried]);
    await isLive(second);
    expect(second.log()).toMatch(/HEAD went back from generation 1000 to \d+.*Envoy keeps what it has/);
  }, 60_000);
});

/** Whether an answer is a delta of a type. */
const isAbout = (type: CoreType, path: string, body: string): boolean =>
  path.endsWith("/DeltaFetch") && body.includes(`"type_url":"${typeUrlOf(type)}"`);

function dropSignature(path: string, body: string): string {
  if (path !== "/v3/head") return body;
  const { signatures: _signatures, ...head } = JSON.parse(body);
  return JSON.stringify(head);
}

/** A cluster, and the version of a type that consists of it. */
function evilCluster() {
  const text = JSON.stringify({ "@type": typeUrlOf("clusters"), name: "evil" });
  const { version } = holdingOf([heldResource("clusters", "evil", text)], createTreeEncoder());
  return { text, version };
}
