/**
 * The server of the front benchmark, in a process of its own: the front over a memory store, or a bare `node:http` server
 * that reads what it is asked and answers the same bytes without looking at it. Tells its address, then what it has used when asked.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { recordedNodes } from "../../lib/front/nodes/node-records.ts";
import { prometheusMetrics } from "../../lib/front/prometheus.ts";
import { limits } from "../../lib/limits/limits.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { answerSizes, benchWorld, heldPath } from "./front-world.ts";

/** What a server has used so far. */
export interface Used {
  readonly cpuUs: number;
  /** The most memory that it had at a time. */
  readonly peakBytes: number;
}

/** A server, and how it is told of a change. */
interface BenchServer {
  readonly url: string;
  readonly change: () => Promise<void>;
}

/** Publishes another world whenever it is told to. */
async function frontServer(): Promise<BenchServer> {
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  let round = 0;
  const change = async () => {
    round += 1;
    await publisher.publish(benchWorld(round), await publisher.head());
  };
  await change();
  // With all that the server counts and keeps.
  const nodes = recordedNodes(store, { front: undefined, now: Date.now, everyMs: 10_000, limits, onError: () => {} });
  const front = createFront({ store, nodes, limits, metrics: prometheusMetrics(), maxHoldMs: 60_000 });
  const { url } = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  return { url, change };
}

/**
 * Has the body of each request when it answers, and answers by path, with the front's headers: `/304`, or a body of so many bytes; behind
 * `/held` it answers once it is told that there is a change.
 */
async function plainServer(): Promise<BenchServer> {
  const bodies = new Map(Object.values(answerSizes).map((size) => [`/${size}`, Buffer.alloc(size, "x")]));
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const { url = "" } = request;
      const body = bodies.get(url.replace(heldPath, ""));
      const answer = () => {
        if (body === undefined) response.writeHead(304).end();
        else response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
      };
      if (url.startsWith(heldPath)) held.push(answer);
      else answer();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return {
    url: typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "",
    change: async () => {
      for (const answer of held.splice(0)) answer();
    },
  };
}

function used(): Used {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, peakBytes: process.resourceUsage().maxRSS * 1024 };
}

if (import.meta.main) {
  const { url, change } = await (process.argv[2] === "front" ? frontServer() : plainServer());
  process.on("message", async (message) => {
    if (message === "change") await change();
    process.send?.(used());
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ url });
}
