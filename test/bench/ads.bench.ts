/**
 * Discovery streams over gRPC: what thousands of them take in one process, and how long a change takes until the last has it. Beside it a
 * bare HTTP/2 server that pushes the same bytes on as many streams: same client, same layout, same run. Every stream has a connection of its
 * own, as Envoys have.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { nodeOf } from "../front/fixtures.ts";
import { type AdsUsage, nowMs } from "./ads-child.ts";
import type { BenchOptions, Row } from "./report.ts";

interface Child {
  readonly url: string;
  usage(): Promise<AdsUsage>;
  /** @returns when HEAD had moved */
  change(): Promise<{ readonly startMs: number; readonly headMs: number }>;
  close(): Promise<void>;
}

async function startChild(args: readonly string[]): Promise<Child> {
  const file = fileURLToPath(new URL("ads-child.ts", import.meta.url));
  const child = fork(file, args, { execArgv: ["--expose-gc"] });
  const { url }: { readonly url: string } = await messageOf(child);
  const ask = (what: string) => {
    const answer = messageOf(child);
    child.send(what);
    return answer;
  };
  return {
    url,
    usage: () => ask("usage"),
    change: () => ask("change"),
    async close() {
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
}

async function messageOf(child: ChildProcess) {
  const [message] = await once(child, "message");
  return message;
}

type Kind = "sotw" | "delta";

/** Streams that count what comes. */
interface Streams {
  /** When every one has had so many answers in all, and the bytes of the last ones together. */
  has(answers: number): Promise<{ readonly lastMs: number; readonly bytes: number }>;
  close(): void;
}

function requestOf(kind: Kind): Buffer {
  const common = { node: nodeOf("web"), typeUrl: typeUrlOf("clusters") };
  const body =
    kind === "sotw"
      ? toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, common))
      : toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, common));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Opened a few at a time: how quickly they come is another question. */
async function openStreams(url: string, kind: Kind, count: number): Promise<Streams> {
  const request = requestOf(kind);
  const method = kind === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources";
  const sessions: ClientHttp2Session[] = [];
  const answers = new Map<number, number>();
  let waiting: { readonly want: number; done(): void } | undefined;
  let bytes = 0;
  const arrived = (total: number) => {
    const now = (answers.get(total) ?? 0) + 1;
    answers.set(total, now);
    if (waiting?.want === total && now === count) waiting.done();
  };
  const open = async () => {
    const session = connect(url);
    sessions.push(session);
    await once(session, "connect");
    const stream = session.request({
      ":method": "POST",
      ":path": `/envoy.service.discovery.v3.AggregatedDiscoveryService/${method}`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => {});
    const first = countFrames(
      stream,
      (total) => arrived(total),
      (size) => {
        bytes += size;
      },
    );
    stream.write(request);
    await first;
  };
  for (let begun = 0; begun < count; begun += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - begun) }, open));
  return {
    async has(want) {
      bytes = 0;
      if ((answers.get(want) ?? 0) < count) {
        await new Promise<void>((resolve) => {
          waiting = { want, done: resolve };
        });
      }
      return { lastMs: nowMs(), bytes };
    },
    close() {
      for (const session of sessions) session.destroy();
    },
  };
}

/** Tells of each whole message. @returns when the first is there */
function countFrames(stream: ClientHttp2Stream, arrived: (total: number) => void, size: (bytes: number) => void) {
  let [left, total] = [0, 0];
  let head = Buffer.alloc(0);
  return new Promise<void>((resolve) => {
    stream.on("data", (data: Buffer) => {
      size(data.length);
      for (let at = 0; at < data.length; ) {
        if (left === 0) {
          const take = Math.min(5 - head.length, data.length - at);
          head = Buffer.concat([head, data.subarray(at, at + take)]);
          at += take;
          if (head.length < 5) return;
          left = head.readUInt32BE(1);
          head = Buffer.alloc(0);
        } else {
          const take = Math.min(left, data.length - at);
          left -= take;
          at += take;
          if (left > 0) continue;
          total += 1;
          arrived(total);
          resolve();
        }
      }
    });
  });
}

interface Measured {
  readonly toLastMs: number;
  readonly cpuMs: number;
  readonly kibPerStream: number;
  readonly peakMib: number;
  readonly bytesPerPush: number;
}

async function measure(args: readonly string[], kind: Kind, streams: number, rounds: number): Promise<Measured> {
  const child = await startChild(args);
  try {
    const before = await child.usage();
    const opened = await openStreams(child.url, kind, streams);
    const open = await child.usage();
    const took: Measured[] = [];
    let cpu = open.cpuUs;
    for (let round = 1; round <= rounds; round += 1) {
      const answered = opened.has(round + 1);
      const { headMs } = await child.change();
      const { lastMs, bytes } = await answered;
      const after = await child.usage();
      took.push({
        toLastMs: lastMs - headMs,
        cpuMs: (after.cpuUs - cpu) / 1_000,
        kibPerStream: (open.rssBytes - before.rssBytes) / streams / 1_024,
        peakMib: after.rssBytes / 1_048_576,
        bytesPerPush: bytes / streams,
      });
      cpu = after.cpuUs;
    }
    opened.close();
    const [middle] = took.toSorted((a, b) => a.toLastMs - b.toLastMs).slice(took.length >> 1);
    if (middle === undefined) throw new Error("no round was measured");
    return middle;
  } finally {
    await child.close();
  }
}

/** `npm run bench -- ads`. */
export async function adsBench({ report, quick }: BenchOptions): Promise<void> {
  const streams = quick ? 200 : 5_000;
  const rounds = quick ? 1 : 3;
  const rows: Row[] = [];
  for (const kind of ["delta", "sotw"] as const) {
    const front = await measure(["front"], kind, streams, rounds);
    const floor = await measure(["bare", String(Math.round(front.bytesPerPush) - 5)], kind, streams, rounds);
    for (const [who, found] of [
      ["front", front],
      ["bare http2", floor],
    ] as const)
      rows.push({
        [`${streams} streams`]: `${kind}, ${who}`,
        "bytes a push": Math.round(found.bytesPerPush),
        "HEAD to last push, ms": found.toLastMs,
        "CPU of it, ms": found.cpuMs,
        "KiB a stream": found.kibPerStream,
        "resident after, MiB": found.peakMib,
      });
  }
  report.table("Discovery streams, each on a connection of its own; one of 100 clusters changes", rows);
}
