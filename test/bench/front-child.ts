/**
 * The server of the front benchmark, in a process of its own: the front over a memory store, or a bare `node:http` server
 * that answers the same bytes without looking at what it is asked. Tells its address, then its CPU time when asked.
 */
import { createServer } from "node:http";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "../snapshot/worlds.ts";

/** Sizes of the answers, in bytes, by the class that gets them. */
export const answerSizes: Readonly<Record<string, number>> = { small: 100_000, large: 2_000_000 };

const perResource = 1_000;

async function frontServer(): Promise<string> {
  const store = memoryStore();
  const classes = Object.entries(answerSizes).map(([id, size]) => {
    const names = Array.from({ length: size / perResource }, (_, at) => `cluster-${String(at).padStart(5, "0")}`);
    return [id, { clusters: Object.fromEntries(names.map((name) => [name, "x".repeat(perResource - 100)])) }] as const;
  });
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldOf(Object.fromEntries(classes)), await publisher.head());
  const { url } = await serveHttp(frontApp(createFront({ store })), 0);
  return url;
}

/** Reads each request to its end, as a server has to, and answers by path: `/304`, or a body of so many bytes. */
function plainServer(): Promise<string> {
  const bodies = new Map(Object.values(answerSizes).map((size) => [`/${size}`, Buffer.alloc(size, "x")]));
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      const body = bodies.get(request.url ?? "");
      if (body === undefined) response.writeHead(304).end();
      else response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "");
    });
  });
}

if (import.meta.main) {
  const url = await (process.argv[2] === "front" ? frontServer() : plainServer());
  process.on("message", () => process.send?.({ cpuUs: cpuUs() }));
  process.on("disconnect", () => process.exit());
  process.send?.({ url });
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
