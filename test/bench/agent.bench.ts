/** From HEAD to Envoy by three ways at once: an agent, held REST polls, a delta stream. And what an idle agent costs. */
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agentFlags, buildAgent } from "../../infra/build.mjs";
import { headKey } from "../../lib/base/blob.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { agentFolder, clearAgent, startAgent } from "../e2e/agent-process.ts";
import { openBookshop, withWeights } from "../e2e/bookshop.ts";
import { eventually, startEnvoy } from "../e2e/envoy.ts";
import type { BenchOptions } from "./report.ts";

/** A way to the front that counts. */
interface CountedWay {
  readonly url: string;
  /** Bytes towards the front, and from it. */
  readonly counts: { sent: number; received: number };
  close(): void;
}

async function countedWay(to: string): Promise<CountedWay> {
  const target = new URL(to);
  const counts = { sent: 0, received: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    near.setNoDelay(true);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.on("data", (data) => {
      counts.sent += data.length;
      far.write(data);
    });
    far.on("data", (data) => {
      counts.received += data.length;
      near.write(data);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A store that says when HEAD was moved. */
function watchedStore(): { readonly store: ObjectStore; movedMs(): number } {
  const store = memoryStore();
  let movedMs = 0;
  return {
    store: {
      ...store,
      async put(key, bytes, condition) {
        if (key === headKey) movedMs = performance.now();
        return store.put(key, bytes, condition);
      },
    },
    movedMs: () => movedMs,
  };
}

/** A process's memory in bytes, time on a core in ms, and bytes that it has handed to files and sockets. */
async function costsOf(pid: number) {
  const [status, stat, io] = await Promise.all(
    ["status", "stat", "io"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8")),
  );
  const kib = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status ?? "")?.[1] ?? 0);
  const fields = (stat ?? "").slice((stat ?? "").lastIndexOf(")") + 2).split(" ");
  return {
    residentMb: kib("VmRSS") / 1_024,
    ownMb: kib("RssAnon") / 1_024,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
    diskBytes: Number(/write_bytes: (\d+)/.exec(io ?? "")?.[1] ?? 0),
  };
}

type Costs = Awaited<ReturnType<typeof costsOf>>;

/** Pause of an Envoy between two polls, at least, at most twice as long, and how long to wait until it is over. */
const pollDelayMs = 50;
const restMs = 120;

const percentile = (sorted: readonly number[], share: number): number =>
  Math.round((sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0) * 10) / 10;

export async function agentBench({ report, quick }: BenchOptions): Promise<void> {
  const changes = quick ? 20 : 200;
  const idleMs = quick ? 5_000 : 30_000;
  const shop = await openBookshop();
  const { store, movedMs } = watchedStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "none", binaryForms: true, pollDelayMs });
  const worldWith = async (v1: number) => {
    await shop.edit("catalog.yaml", withWeights(v1, 100 - v1));
    return compile(await readFolder(shop.folder), []).value;
  };
  const worlds = [await worldWith(40), await worldWith(60)];
  const publish = async (at: number) => {
    const world = worlds[at % worlds.length];
    if (world !== undefined) await publisher.publish(world, await publisher.head());
  };
  await publish(0);
  const front = createFront({ store, maxHoldMs: 25_000 });
  const [http, grpc] = [await serveHttp(frontApp(front), 0), await serveGrpc(front, 0)];
  const ways = { agent: await countedWay(http.url), rest: await countedWay(http.url), ads: await countedWay(grpc.url) };
  const gateway = proxiesIn(await readFolder(shop.folder)).find(({ proxy }) => proxy.type === "router");
  if (gateway === undefined) throw new Error("the bookshop has a gateway");
  // All three have the same name, so the listener is one port that they share.
  const bootstrap = (url: string, transport: "rest" | "delta") =>
    bootstrapFor(gateway, url, 0, { certificates: "none", transport, pollDelayMs });
  const folder = await agentFolder();
  const bundle = await buildAgent(join(folder, "bundle"));
  const agent = await startAgent({
    folder,
    entry: join(bundle, "agent/index.mjs"),
    nodeFlags: agentFlags,
    bootstrap: bootstrap(ways.agent.url, "rest"),
    args: ["--server", ways.agent.url],
  });
  const polled = await startEnvoy(bootstrap(ways.rest.url, "rest"));
  const streamed = await startEnvoy(bootstrap(ways.ads.url, "delta"));
  const version = `/stats?type=TextReadouts&filter=${encodeURIComponent("\\.rds\\..*version_text")}`;
  const admins = { agent: agent.admin, rest: polled.admin, ads: streamed.admin } as const;
  const kinds = ["agent", "rest", "ads"] as const;
  try {
    for (const kind of kinds) {
      await eventually(
        () => admins[kind](version),
        (text) => text.includes("version_text"),
        30_000,
      );
    }
    await sleep(2_000);
    const fresh = await costsOf(agent.pid);
    const tookMs: Record<(typeof kinds)[number], number[]> = { agent: [], rest: [], ads: [] };
    const before = kinds.map((kind) => ({ ...ways[kind].counts }));
    for (let i = 1; i <= changes; i += 1) {
      const had = await Promise.all(kinds.map((kind) => admins[kind](version)));
      const seen = kinds.map(async (kind, at) => {
        await eventually(
          () => admins[kind](version),
          (text) => text !== had[at],
          20_000,
          5,
        );
        return performance.now();
      });
      await publish(i);
      for (const [at, seenMs] of (await Promise.all(seen)).entries())
        tookMs[kinds[at] ?? "agent"].push(seenMs - movedMs());
      // A poller rests after an answer: what comes sooner would measure that, and not the way.
      await sleep(restMs);
    }
    const names = { agent: "agent", rest: "REST, held polls", ads: "ADS, delta" };
    const rows = kinds.map((kind, at) => {
      const sorted = tookMs[kind].toSorted((a, b) => a - b);
      const { sent, received } = ways[kind].counts;
      return {
        way: names[kind],
        "p50 ms": percentile(sorted, 0.5),
        "p99 ms": percentile(sorted, 0.99),
        "to the front, bytes a change": Math.round((sent - (before[at]?.sent ?? 0)) / changes),
        "from it": Math.round((received - (before[at]?.received ?? 0)) / changes),
      };
    });
    report.table(`HEAD move → in force in Envoy, ${changes} changes of a weight, by three ways at once`, rows);
    const start = await costsOf(agent.pid);
    await sleep(idleMs);
    const end = await costsOf(agent.pid);
    const share = Math.round((100_000 * (end.cpuMs - start.cpuMs)) / idleMs) / 1_000;
    const memory = ([when, { residentMb, ownMb }]: readonly [string, Costs]) => ({
      when,
      "resident MB": Math.round(residentMb),
      "of it its own": Math.round(ownMb),
    });
    report.table("Memory of the agent", [
      memory(["with its first configuration", fresh]),
      memory([`after ${changes} changes`, end]),
    ]);
    const written = end.diskBytes - start.diskBytes;
    report.table(`An idle agent, over ${idleMs / 1_000} s`, [
      { "% of a core": share, "bytes written to disk": written },
    ]);
    report.rows("agent", [
      ...rows.map((row) => ({ name: row.way, ...row })),
      {
        name: "idle agent",
        "resident MB, fresh": Math.round(fresh.residentMb),
        [`resident MB, after ${changes} changes`]: Math.round(end.residentMb),
        "% of a core": share,
        "bytes written to disk": written,
      },
    ]);
    report.line(
      "resident counts the pages of Node's own program, which processes share; its own are what the agent adds",
    );
  } finally {
    await agent.end("SIGTERM");
    await clearAgent(folder);
    await polled.stop();
    await streamed.stop();
    front.close();
    for (const kind of kinds) ways[kind].close();
    await Promise.all([http.close(), grpc.close()]);
    await shop.close();
  }
}
