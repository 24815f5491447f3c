/**
 * The server of the streams benchmark, in a process of its own: the front's port for gRPC over a memory store, or a bare HTTP/2 server that
 * writes the same bytes to whoever is connected without looking at what it is asked. Tells its address; on `change` what it did and when it
 * began; on `usage` its memory and CPU time.
 */
import { createServer, type ServerHttp2Stream } from "node:http2";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { withBinary } from "../front/ads/streams.ts";
import { worldOf } from "../snapshot/worlds.ts";

/** Clusters of the one class, and bytes of each. */
export const clusters = 100;
export const clusterBytes = 1_000;

export interface AdsUsage {
  readonly rssBytes: number;
  readonly cpuUs: number;
}

/** On a clock that all processes of a machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

interface Server {
  readonly url: string;
  change(): Promise<void>;
}

const worldAfter = (changes: number) => {
  const names = Array.from({ length: clusters }, (_, at) => `cluster-${String(at).padStart(4, "0")}`);
  const textOf = (at: number) => `${at === 0 ? changes : 0}${"x".repeat(clusterBytes - 20)}`;
  return withBinary(worldOf({ web: { clusters: Object.fromEntries(names.map((name, at) => [name, textOf(at)])) } }));
};

async function front(): Promise<Server> {
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  let changes = 0;
  const publish = async () => {
    await publisher.publish(worldAfter(changes), await publisher.head());
  };
  await publish();
  const { url } = await serveGrpc(createFront({ store }), 0);
  const change = () => {
    changes += 1;
    return publish();
  };
  return { url, change };
}

/** @param answerBytes of each push */
function bare(answerBytes: number): Promise<Server> {
  const streams = new Set<ServerHttp2Stream>();
  const frame = Buffer.alloc(5 + answerBytes);
  frame.writeUInt32BE(answerBytes, 1);
  const server = createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    stream.write(frame);
    stream.resume();
    streams.add(stream);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve({
        url: typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "",
        change: async () => {
          for (const stream of streams) stream.write(frame);
        },
      });
    });
  });
}

if (import.meta.main) {
  const [kind = "", answerBytes = "0"] = process.argv.slice(2);
  const server = await (kind === "front" ? front() : bare(Number(answerBytes)));
  process.on("message", async (what) => {
    const startMs = nowMs();
    if (what === "change") await server.change();
    // When HEAD has moved: what is published before it is another benchmark's.
    process.send?.(what === "change" ? { startMs, headMs: nowMs() } : usage());
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ url: server.url });
}

function usage(): AdsUsage {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  return { rssBytes: process.memoryUsage.rss(), cpuUs: user + system };
}
