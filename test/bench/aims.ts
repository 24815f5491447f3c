/**
 * How far the whole way is from what was aimed at. The aims are times of the machine on which they were set; how much slower this one is, the
 * code of that day tells, which is run here beside ours: aims are read as so many times as long.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Child, type CompileRow, rowsOf } from "./compile-rows.ts";
import { measured } from "./measured.ts";
import type { Report, Row } from "./report.ts";

/** The commit whose figures the aims were set upon. */
const commitOfAims = "50eff0e6";

/** What that code took on the machine on which the aims were set, for the mesh of 1,000 services, in ms. */
const takenThen: Readonly<Record<string, number>> = {
  "one sidecar": 24,
  "one gateway": 15,
  bytes: 566,
  everything: 6_100,
  "virtual-service": 820,
  "virtual-service-cold-process": 6_000,
};

interface Aim {
  readonly services: number;
  readonly work: string;
  /** What counts: time by the clock, or of the CPU. */
  readonly by: "ms" | "cpuMs";
  readonly most: number;
}

const aims: readonly Aim[] = [
  { services: 1000, work: "bytes", by: "ms", most: 113 },
  { services: 1000, work: "everything", by: "ms", most: 2_000 },
  { services: 1000, work: "virtual-service", by: "cpuMs", most: 60 },
  { services: 1000, work: "virtual-service-cold-process", by: "ms", most: 1_200 },
  { services: 1000, work: "endpoint", by: "ms", most: 20 },
  { services: 5000, work: "everything", by: "ms", most: 12_000 },
  { services: 5000, work: "virtual-service", by: "cpuMs", most: 150 },
  { services: 5000, work: "endpoint", by: "ms", most: 40 },
];

type Taken = Readonly<Record<(typeof aims)[number]["by"], number>>;

/** By work. */
type Times = ReadonlyMap<string, Taken>;

interface Options {
  /** The other checkout. */
  readonly folder: string;
  readonly services: readonly number[];
  readonly turns: number;
  readonly report: Report;
}

/** Runs the whole way in this checkout and in another one, in turns; with 5,000 services only here, where they are asked for. */
export async function compareWholeWay(options: Options): Promise<void> {
  const top = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    await compareIn(top, options);
  } finally {
    // Not before: whoever makes a file has ext4 pass over all inodes that were freed in the last minutes, one by one.
    rmSync(top, { recursive: true });
  }
}

async function compareIn(top: string, { folder, services, turns, report }: Options): Promise<void> {
  const here: Times[] = [];
  const there: Times[] = [];
  const large: Times[] = [];
  const other = resolve(folder);
  for (let turn = 0; turn < turns; turn += 1) {
    const sides = [
      async () => there.push(await timesOf(1000, { folder: join(top, `there-${turn}`), checkout: other })),
      async () => here.push(await timesOf(1000, { folder: join(top, `here-${turn}`) })),
    ];
    // Who comes first changes: whatever a process leaves behind is left to both.
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) await side();
    if (services.includes(5000)) large.push(changesOf(5000, { folder: join(top, `large-${turn}`) }));
  }
  const [ours, theirs] = [best(here), best(there)];
  report.table(
    `The whole way, 1,000 services: of ${turns} turns the shortest; here / there: under 1 is faster than ${other}`,
    comparedRows(ours, theirs),
  );
  if (!isOfAims(folder)) {
    report.line(`how far the aims are is said beside ${commitOfAims} only, on whose figures they were set`);
    return;
  }
  const slower = factorOf(theirs);
  report.line(`the same code takes ${slower.toFixed(2)} times as long here as where the aims were set`);
  const rows = aimRows(
    new Map([
      [1000, ours],
      [5000, best(large)],
    ]),
    slower,
  );
  report.table("Aims, and what they are on this machine; of the aim: up to 1 is reached", rows);
  report.rows("aims", rows);
}

const isOfAims = (folder: string): boolean =>
  spawnSync("git", ["-C", folder, "rev-parse", "HEAD"], { encoding: "utf8" }).stdout.startsWith(commitOfAims);

type Store = Pick<Child, "folder" | "checkout">;

const byWork = (rows: readonly CompileRow[]): Times => new Map(rows.map((row) => [row.work, row]));

const changesOf = (services: number, store: Store): Times =>
  byWork(rowsOf(services, { ...store, works: ["everything", "virtual-service", "endpoint"] }));

async function timesOf(services: number, store: Store): Promise<Times> {
  const warm = changesOf(services, store);
  const cold = byWork(rowsOf(services, { ...store, works: ["virtual-service-cold-process"] }));
  return new Map([...warm, ...cold, ...(await proxiesOf(services, store.checkout ?? process.cwd()))]);
}

/** Rows of `mesh` by what is called so here. */
const rowsOfMesh = { "one sidecar": "one sidecar", "one gateway": "one gateway", bytes: "both, both shapes" };

async function proxiesOf(services: number, checkout: string): Promise<readonly (readonly [string, Taken])[]> {
  const tables = Object.values(await measured(checkout, ["mesh", "--services", String(services)]));
  return Object.entries(rowsOfMesh).map(([work, label]) => {
    const row = tables.flat().find(({ "": what }) => String(what).startsWith(label));
    if (row === undefined) throw new Error(`mesh of ${checkout} has no row for ${label}`);
    return [work, { ms: Number(row.ms), cpuMs: Number(row.CPU) }];
  });
}

/** A shared machine only ever makes a program slower. */
function best(turns: readonly Times[]): Times {
  const works = new Set(turns.flatMap((times) => [...times.keys()]));
  const least = (work: string, by: keyof Taken): number =>
    Math.min(...turns.map((times) => times.get(work)?.[by] ?? Number.NaN));
  return new Map(Array.from(works, (work) => [work, { ms: least(work, "ms"), cpuMs: least(work, "cpuMs") }]));
}

const comparedRows = (ours: Times, theirs: Times): readonly Row[] =>
  [...ours].flatMap(([work, own]): readonly Row[] => {
    const other = theirs.get(work);
    if (other === undefined) return [];
    return [
      {
        work,
        here: own.ms,
        there: other.ms,
        "here / there": own.ms / other.ms,
        "CPU here": own.cpuMs,
        "CPU there": other.cpuMs,
      },
    ];
  });

/** The geometric mean over the works of which it is known what they took then. */
function factorOf(there: Times): number {
  const factors = Object.entries(takenThen).map(([work, then]) => (there.get(work)?.ms ?? Number.NaN) / then);
  return Math.exp(factors.reduce((sum, factor) => sum + Math.log(factor), 0) / factors.length);
}

/** @param times by the size of the mesh */
function aimRows(times: ReadonlyMap<number, Times>, slower: number): readonly Row[] {
  return aims.flatMap(({ services, work, by, most }): readonly Row[] => {
    const took = times.get(services)?.get(work)?.[by];
    if (took === undefined) return [];
    const here = most * slower;
    return [
      {
        services,
        work,
        by: by === "ms" ? "clock" : "CPU",
        aim: most,
        "aim here": here,
        ms: took,
        "of the aim": took / here,
      },
    ];
  });
}
