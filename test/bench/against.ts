/**
 * The same benchmarks of another checkout, in turns with this one's: a shared machine is slower at one time than at another, so
 * figures of two trees say something of each other only when they were taken in one run.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { compareWholeWay } from "./aims.ts";
import { checkoutIn } from "./checkout.ts";
import { takeInTurns, type Work, worksOf } from "./in-turns.ts";
import { measured, program, type Tables } from "./measured.ts";
import type { Report, Row } from "./report.ts";

/** What both checkouts are asked for. */
export interface AgainstOptions {
  /** The other checkout, with `node_modules` and `gen`. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Of the synthetic mesh; each size is taken by itself. */
  readonly services: readonly number[];
  readonly quick: boolean;
  /** How often each benchmark is taken in both. */
  readonly turns: number;
  readonly report: Report;
}

/** @returns why a folder cannot be compared with */
export function problemOfFolder(folder: string): string | undefined {
  return existsSync(join(folder, program)) ? undefined : `--against ${folder}: there is no ${program}`;
}

/** Runs every benchmark in turns, those of generation in this process and the others in one each, and reports the rows that both checkouts have. */
export async function compareWith({ names, ...options }: AgainstOptions): Promise<void> {
  const inOne = names.filter(isInOne);
  const apart = names.filter((name) => !isInOne(name) && name !== "compile");
  if (names.includes("compile")) await compareWholeWay(options);
  if (inOne.length > 0) await compareInOne(inOne, options);
  if (apart.length > 0) await compareApart({ ...options, names: apart });
}

/** Times as long as in the other checkout, which is still called as fast. */
const tolerated = 1.15;

const isInOne = (name: string): name is keyof typeof worksOf => Object.hasOwn(worksOf, name);

async function compareInOne(
  names: readonly (keyof typeof worksOf)[],
  { folder, services, quick, report }: Omit<AgainstOptions, "names">,
): Promise<void> {
  const [here, there] = [await checkoutIn(process.cwd()), await checkoutIn(resolve(folder))];
  const rows = names.flatMap((name) =>
    groupsOf(name, services).flatMap((works) => takeInTurns(works, here, there, quick)),
  );
  report.table(
    `${names.join(" ")}: ms, lower quartiles; here / there: under 1 is faster than ${resolve(folder)}`,
    rows,
  );
  const slower = rows.filter((row) => Number(row["here / there"]) > tolerated).map((row) => row[""]);
  report.line(`more than ${tolerated} times: ${slower.length === 0 ? "none" : slower.join(", ")}`);
}

/** What is taken together: the objects of a large mesh would be in the way of every collection of the others' rounds. */
function groupsOf(name: keyof typeof worksOf, services: readonly number[]): readonly (readonly Work[])[] {
  return name === "mesh" ? services.map((size) => worksOf.mesh([size])) : [worksOf[name]()];
}

/** A process for each benchmark, each turn and each checkout. */
async function compareApart({ folder, names, report, ...options }: AgainstOptions): Promise<void> {
  const checkouts = { here: process.cwd(), there: resolve(folder) };
  report.line(
    `of ${options.turns} turns the best median each, ms; here / there: under 1 is faster than ${checkouts.there}`,
  );
  for (const command of commandsOf(names, options)) {
    const here: Tables[] = [];
    const there: Tables[] = [];
    for (let turn = 0; turn < options.turns; turn += 1) {
      // Who comes first changes: whatever a process leaves behind is left to both.
      const order = turn % 2 === 0 ? (["here", "there"] as const) : (["there", "here"] as const);
      for (const side of order) (side === "here" ? here : there).push(await measured(checkouts[side], command));
    }
    const rows = comparedRows(here, there);
    report.table(command.join(" "), rows.length === 0 ? [{ "": "the two have no row in common" }] : rows);
  }
}

/** Command lines, without what is the same in all: short ones, so that two sides are measured soon after each other. */
export function commandsOf(
  names: readonly string[],
  { services, quick }: Pick<AgainstOptions, "services" | "quick">,
): readonly (readonly string[])[] {
  const rest = quick ? ["--quick"] : [];
  return names.flatMap((name) =>
    name === "mesh" ? services.map((size) => [name, "--services", String(size), ...rest]) : [[name, ...rest]],
  );
}

/**
 * The rows of times that both have, in this checkout's order. A row is known by its title and its label without what stands in
 * brackets: there are counts in those.
 *
 * @param here one for each turn
 * @param there likewise
 */
export function comparedRows(here: readonly Tables[], there: readonly Tables[]): readonly Row[] {
  const ours = best(here);
  const theirs = best(there);
  return [...ours].flatMap(([label, own]): readonly Row[] => {
    const other = theirs.get(label);
    if (other === undefined) return [];
    return [
      {
        "": own.what,
        here: own.ms,
        there: other.ms,
        "here / there": own.ms / other.ms,
        "running here": own.running,
        "running there": other.running,
        "here / there, running": own.running / other.running,
      },
    ];
  });
}

interface Best {
  /** The row's label. */
  readonly what: string;
  readonly ms: number;
  readonly running: number;
}

function best(turns: readonly Tables[]): ReadonlyMap<string, Best> {
  const found = new Map<string, Best>();
  for (const [title, row] of turns.flatMap(rowsOf)) {
    const { ms, running } = row;
    if (typeof ms !== "number" || typeof running !== "number") continue;
    const what = withoutCounts(String(row[""] ?? ""));
    const label = `${withoutCounts(title)}\n${what}`;
    const before = found.get(label);
    found.set(label, {
      what,
      ms: Math.min(before?.ms ?? ms, ms),
      running: Math.min(before?.running ?? running, running),
    });
  }
  return found;
}

const rowsOf = (tables: Tables): readonly (readonly [string, Row])[] =>
  Object.entries(tables).flatMap(([title, rows]) => rows.map((row) => [title, row] as const));

const withoutCounts = (text: string): string => text.replaceAll(/ *\([^)]*\)/g, "");
