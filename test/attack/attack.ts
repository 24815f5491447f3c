import { setTimeout as sleep } from "node:timers/promises";
import type { AttackClass } from "./attack-class.ts";
import { type Clients, createClients, type Outcome } from "./clients.ts";
import { connectionAttacks } from "./connection-attacks.ts";
import { legacyAttacks } from "./legacy-attacks.ts";
import { type Seen, startNormalClient } from "./normal-client.ts";
import { randomFrom } from "./random.ts";
import { restAttacks } from "./rest-attacks.ts";
import { rpcAttacks } from "./rpc-attacks.ts";
import type { ServerProcess } from "./server-process.ts";
import { streamAttacks } from "./stream-attacks.ts";
import { type ServerName, startTarget, type Target } from "./target.ts";
import { writeAttacks } from "./write-attacks.ts";

export const attackClasses: readonly AttackClass[] = [
  ...restAttacks,
  ...legacyAttacks,
  ...rpcAttacks,
  ...streamAttacks,
  ...connectionAttacks,
  ...writeAttacks,
];

export interface AttackOptions {
  /** At least this many are sent, the first third to warm up. */
  readonly requests: number;
  readonly seed: number;
  /** Ends before all is sent when it takes longer. */
  readonly maxMs: number;
  /** How far memory may grow from the end of the warm-up to the end, resident or held, in MB. */
  readonly maxGrowthMb: number;
  readonly onProgress?: (line: string) => void;
}

/** What became of the requests of one class. */
export interface ClassReport {
  readonly transport: string;
  readonly name: string;
  readonly requests: number;
  /** By how they ended. */
  readonly ends: Readonly<Record<string, number>>;
}

export interface AttackReport {
  readonly requests: number;
  readonly seconds: number;
  readonly classes: readonly ClassReport[];
  readonly memory: Readonly<Record<ServerName, MemoryReport>>;
  /** Polls of a normal client beside it, in ms: while nobody else asked, and meanwhile. */
  readonly quiet: Latency;
  readonly attacked: Latency;
  /** What should not have happened; empty when all is well. */
  readonly failures: readonly string[];
}

/** Memory of a server, in MB. All but the peak are looked at when its garbage is collected. */
export interface MemoryReport {
  /** Resident: after the warm-up, at most, at the end. */
  readonly warm: number;
  readonly peak: number;
  readonly end: number;
  /** Heap and buffers that something holds: after the warm-up, and at the end. */
  readonly warmHeld: number;
  readonly endHeld: number;
}

export interface Latency {
  readonly polls: number;
  readonly p50: number;
  readonly p99: number;
}

const workers = 48;
const quietMs = 1_500;
/** So long nothing is sent before memory is looked at. */
const settleMs = 4_000;

/** Attacks a server of Portolan's, started for it, with all classes of requests at a time; the same seed sends the same. */
export async function attack(options: AttackOptions): Promise<AttackReport> {
  const target = await startTarget();
  const clients = createClients(target);
  try {
    return await attackTarget(target, clients, options);
  } finally {
    clients.close();
    await target.close();
  }
}

async function attackTarget(target: Target, clients: Clients, options: AttackOptions): Promise<AttackReport> {
  const { requests, seed, maxMs, maxGrowthMb, onProgress = () => {} } = options;
  const startMs = performance.now();
  const { front, compile, guarded } = target.servers;
  const servers = { front: watchMemory(front), compile: watchMemory(compile), guarded: watchMemory(guarded) };
  const normal = await startNormalClient(target.url);
  const tally = createTally();
  const random = randomFrom(seed);
  const total = attackClasses.reduce((sum, { share }) => sum + share, 0);
  const isOver = () =>
    [front, compile, guarded].some(({ ended }) => ended() !== undefined) || performance.now() - startMs > maxMs;

  /** Every class in turn until each had its share, in an order that the seed decides. */
  async function send(count: number): Promise<void> {
    const queue = attackClasses.flatMap((one) => {
      const times = Math.ceil((count * one.share) / total);
      return Array.from({ length: times }, () => one);
    });
    for (let at = queue.length - 1; at > 0; at -= 1) {
      const other = random(at + 1);
      const [a, b] = [queue[at], queue[other]];
      if (a !== undefined && b !== undefined) [queue[at], queue[other]] = [b, a];
    }
    let next = 0;
    const work = async () => {
      for (let one = queue[next++]; one !== undefined; one = queue[next++]) {
        if (isOver()) return;
        tally.add(one, await one.send(clients, random));
        if (next % 10_000 === 0) onProgress(`${next} of ${queue.length}, ${mb(front.rss())} MB`);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
    clients.dropLeft();
  }

  try {
    await sleep(quietMs);
    const quiet = await normal.seen();
    onProgress(`warming up, ${mb(front.rss())} MB`);
    await send(requests / 3);
    const early = await normal.seen();
    await sleep(settleMs);
    await normal.seen();
    for (const server of Object.values(servers)) await server.isWarm();
    onProgress("warm");
    await send((requests * 2) / 3);
    const late = await normal.seen();
    await sleep(settleMs);
    const last = await normal.seen();
    const memory = {
      front: await servers.front.report(),
      compile: await servers.compile.report(),
      guarded: await servers.guarded.report(),
    };
    const failures = [
      ...Object.entries(target.servers).flatMap(([name, { ended, errors }]) => [
        ...(ended() === undefined ? [] : [`the ${name} is gone: ${ended()}`]),
        ...errors().map((line) => `the ${name} says: ${line}`),
      ]),
      ...[quiet, early, late, last].flatMap(({ odd }) => odd.map((answer) => `the normal client was told ${answer}`)),
      ...tally.failures(),
      ...Object.entries(memory).flatMap(([name, { warm, end, warmHeld, endHeld }]) => [
        ...(end - warm > maxGrowthMb ? [`the ${name} grew by ${end - warm} MB`] : []),
        ...(endHeld - warmHeld > maxGrowthMb ? [`the ${name} holds ${endHeld - warmHeld} MB more`] : []),
      ]),
      ...(performance.now() - startMs > maxMs ? [`not done after ${maxMs} ms`] : []),
    ];
    return {
      requests: tally.requests(),
      seconds: Math.round((performance.now() - startMs) / 1000),
      classes: tally.classes(),
      memory,
      quiet: latencyOf(quiet),
      attacked: latencyOf(late),
      failures,
    };
  } finally {
    for (const server of Object.values(servers)) server.close();
    await normal.close();
  }
}

function watchMemory(server: ServerProcess) {
  let peak = 0;
  let warm = { rss: Number.NaN, held: Number.NaN };
  const watch = setInterval(() => {
    peak = Math.max(peak, server.rss());
  }, 100);
  /** One that is gone has none. */
  const memory = () => server.memory().catch(() => ({ rss: Number.NaN, held: Number.NaN }));
  return {
    async isWarm() {
      warm = await memory();
      peak = 0;
    },
    async report(): Promise<MemoryReport> {
      const end = await memory();
      return {
        warm: mb(warm.rss),
        peak: mb(peak),
        end: mb(end.rss),
        warmHeld: mb(warm.held),
        endHeld: mb(end.held),
      };
    },
    close: () => clearInterval(watch),
  };
}

function createTally() {
  const ends = new Map(attackClasses.map((one) => [one, new Map<string, number>()]));
  const failures: string[] = [];
  const requestsOf = (one: AttackClass) => [...(ends.get(one)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  return {
    add(one: AttackClass, { status, text }: Outcome) {
      const counts = ends.get(one);
      counts?.set(status, (counts.get(status) ?? 0) + 1);
      if (one.ends.includes(status) && !blames(status, text)) return;
      if (failures.length < 20) failures.push(`${one.transport}, ${one.name}: ${status} ${text}`);
    },
    failures: () => failures,
    requests: () => attackClasses.reduce((sum, one) => sum + requestsOf(one), 0),
    classes: () =>
      attackClasses.map((one) => ({
        transport: one.transport,
        name: one.name,
        requests: requestsOf(one),
        ends: Object.fromEntries([...(ends.get(one) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))),
      })),
  };
}

/** An error that puts the blame on the store, or on us. */
function blames(status: string, text: string): boolean {
  return /^(5\d\d|grpc 1[34])$/.test(status) && /store|own/.test(text);
}

function latencyOf({ tookMs }: Seen): Latency {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (part: number) => Number((sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1));
  return { polls: sorted.length, p50: at(0.5), p99: at(0.99) };
}

const mb = (bytes: number): number => Math.round(bytes / 1_000_000);
