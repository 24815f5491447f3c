/**
 * Polls over HTTP against the front, beside a bare `node:http` server and nginx that are asked and answer as much: same client, each
 * server in a process of its own, taking turns in the same run, in short rounds of which the median counts. Where `wrk` is installed it is the client,
 * on a core of its own; else one on sockets shares the machine's cores. CPU time of the server is the truer figure.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { childServer, nginxServer, type Server, workerdServer } from "./front-servers.ts";
import { type Asked, bySockets, byWrk, connections, inTurns, timesOf } from "./front-turns.ts";
import { type AnswerClass, answerSizes, heldPath, recordedPoll } from "./front-world.ts";
import { postOf } from "./raw-load.ts";
import type { BenchOptions, Row } from "./report.ts";
import { hasWrk, pin } from "./wrk-load.ts";
import { median } from "./yardstick.ts";

const path = "/v3/discovery:clusters";

/** What is aimed at: CPU time by that of a bare server; 5,000 held polls of 107 KB, from a change to the last answer. */
const aims = { times: 1.5, heldMs: 1_000, heldMB: 300 } as const;

/** Connections that are begun at a time. */
const atOnce = 250;

interface Compared {
  readonly what: string;
  readonly body: string;
  /** What a server that does not look at requests is asked. */
  readonly plainPath: string;
  readonly expected: number;
  readonly count: number;
}

async function versionOf(server: Server, classId: AnswerClass): Promise<string> {
  const body = recordedPoll(classId, { slim: true });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(server.url + path, { method: "POST", headers, body });
  const version = /"version_info":"([^"]+)"/.exec(await answer.text())?.[1];
  if (version === undefined) throw new Error(`an answer without a version: ${answer.status}`);
  return version;
}

const pollsOf = (version: string, quick: boolean): readonly Compared[] => {
  const count = (whole: number) => (quick ? Math.ceil(whole / 20) : whole);
  const small = `/${answerSizes.small}`;
  return [
    {
      what: "304 to a poll of 77 KB",
      body: recordedPoll("small", { version, slim: false }),
      plainPath: "/304",
      expected: 304,
      count: count(4_000),
    },
    {
      what: "304 to a slim poll",
      body: recordedPoll("small", { version, slim: true }),
      plainPath: "/304",
      expected: 304,
      count: count(10_000),
    },
    {
      what: "200, 76 KB, slim",
      body: recordedPoll("small", { version: "0", slim: true }),
      plainPath: small,
      expected: 200,
      count: count(4_000),
    },
    {
      what: "200, 76 KB, to a first poll of 77 KB",
      body: recordedPoll("small", { slim: false }),
      plainPath: small,
      expected: 200,
      count: count(4_000),
    },
    {
      what: "200, 1 MB, slim",
      body: recordedPoll("large", { version: "0", slim: true }),
      plainPath: `/${answerSizes.large}`,
      expected: 200,
      count: count(500),
    },
  ];
};

async function pollTable({ report, quick }: BenchOptions): Promise<void> {
  const front = await childServer("front");
  const plain = await childServer("plain");
  const nginx = await nginxServer();
  const isWrk = hasWrk();
  try {
    if (isWrk) for (const server of [front, plain, nginx]) if (server !== undefined) pin(server.pid);
    const version = await versionOf(front, "small");
    const rows: Row[] = [];
    for (const poll of pollsOf(version, quick)) {
      const { body, plainPath, count, expected } = poll;
      const asked: Asked[] = [
        { server: front, path, body, count },
        { server: plain, path: plainPath, body, count },
        ...(nginx === undefined ? [] : [{ server: nginx, path: plainPath, body, count }]),
      ];
      const turns = await inTurns(isWrk ? byWrk : bySockets, asked, { expected, quick });
      const [ours, bare, fast] = [front, plain, nginx].map((server) => server && turns.get(server));
      const times = timesOf(ours, bare);
      rows.push({
        "": poll.what,
        "front, CPU µs": median(ours?.cpuUs ?? []),
        "node:http, CPU µs": median(bare?.cpuUs ?? []),
        "times node:http": times,
        [`aim: ${aims.times}`]: times <= aims.times ? "met" : "not met",
        "nginx, CPU µs": fast === undefined ? "-" : median(fast.cpuUs),
        "front, 1/s": Math.round(median(ours?.perSecond ?? [])),
        "node:http, 1/s": Math.round(median(bare?.perSecond ?? [])),
      });
    }
    const client = isWrk ? "wrk on a core of its own" : "a client on sockets, wrk is not installed";
    report.table(`Front, polls over ${connections} kept connections (${client}); medians of rounds in turns`, rows);
  } finally {
    for (const server of [front, plain, nginx]) await server?.close();
  }
}

/** The Worker, as `wrangler dev` runs it: with a proxy of its own before it, which counts too. */
async function workerdTable({ report, quick }: BenchOptions): Promise<void> {
  const workerd = await workerdServer();
  if (workerd === undefined) return;
  try {
    const rows: Row[] = [];
    for (const { what, body, count, expected } of pollsOf(await versionOf(workerd, "small"), quick)) {
      const asked = { server: workerd, path, body, count: Math.ceil(count / 20) };
      const turns = (await inTurns(bySockets, [asked], { expected, quick })).get(workerd);
      const perSecond = Math.round(median(turns?.perSecond ?? []));
      rows.push({ "": what, "workerd, CPU µs": median(turns?.cpuUs ?? []), "1/s": perSecond });
    }
    report.table("The same polls to the Worker in workerd", rows);
  } finally {
    await workerd.close();
  }
}

/** Held polls of as many nodes, and one change for all of them; beside it a bare server that holds as many requests and answers as much. */
async function heldTable({ report, quick, held }: BenchOptions): Promise<void> {
  const count = held ?? (quick ? 500 : 5_000);
  const ours = await heldBy("front", count);
  const bare = await heldBy("plain", count);
  const rowOf = (who: string, { tookMs, cpuMs, peakBytes, bytes }: Held): Row => ({
    "": `${who}: ${count} held, ${Math.round(bytes / count / 1_000)} KB each`,
    "change to last answer, ms": Math.round(tookMs),
    "CPU of it, ms": Math.round(cpuMs),
    "memory at most, MB": Math.round(peakBytes / 1_000_000),
  });
  const isMet = ours.tookMs <= aims.heldMs && ours.peakBytes <= aims.heldMB * 1_000_000;
  report.table("Front, one change for all who hold a poll", [
    {
      ...rowOf("front", ours),
      "times node:http": ours.tookMs / bare.tookMs,
      [`aim: ${aims.heldMs} ms, ${aims.heldMB} MB`]: isMet ? "met" : "not met",
    },
    rowOf("node:http", bare),
  ]);
}

interface Held {
  readonly tookMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
  /** All that was answered. */
  readonly bytes: number;
}

async function heldBy(kind: "front" | "plain", count: number): Promise<Held> {
  const server = await childServer(kind);
  const sockets: Socket[] = [];
  try {
    const version = kind === "front" ? await versionOf(server, "middle") : "0".repeat(32);
    const asked = kind === "front" ? path : `${heldPath}/${answerSizes.middle}`;
    const { hostname, port } = new URL(server.url);
    let answered = 0;
    let bytes = 0;
    // One for all: what is read is counted and let go, so that the client costs little of the time that it takes.
    const buffer = Buffer.alloc(256 * 1024);
    const { promise: everybody, resolve: all } = Promise.withResolvers<void>();
    const hold = (node: number): Socket => {
      let missing: number = answerSizes.middle;
      const callback = (read: number): boolean => {
        bytes += read;
        missing -= read;
        if (missing > 0) return true;
        missing = Number.POSITIVE_INFINITY;
        answered += 1;
        if (answered === count) all();
        return true;
      };
      const socket = connect({ port: Number(port), host: hostname, onread: { buffer, callback } });
      socket.write(postOf(asked, recordedPoll("middle", { version, slim: true, node }), 60_000));
      return socket;
    };
    while (sockets.length < count) {
      const wave = Array.from({ length: Math.min(atOnce, count - sockets.length) }, (_, at) =>
        hold(sockets.length + at),
      );
      sockets.push(...wave);
      // No more than the system keeps for a server that has not taken them in yet.
      await Promise.all(wave.map((socket) => once(socket, "connect")));
    }
    // Until all are held: a poll beside them is answered then.
    if (kind === "front") await versionOf(server, "middle");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    if (answered > 0) throw new Error(`${answered} polls were not held`);
    const before = await server.used();
    const startMs = performance.now();
    await Promise.all([server.change(), everybody]);
    const tookMs = performance.now() - startMs;
    const { peakBytes, cpuUs } = await server.used();
    return { tookMs, cpuMs: (cpuUs - before.cpuUs) / 1_000, peakBytes, bytes };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
}

export async function frontBench(options: BenchOptions): Promise<void> {
  if (options.held !== undefined) return heldTable(options);
  await pollTable(options);
  await heldTable(options);
  await workerdTable(options);
}
