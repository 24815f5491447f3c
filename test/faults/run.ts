/** `npm run faults -- [--rounds N] [--seed N] [--store files|S3] [--json]`: breaks stores while others publish, and says how they held. */
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { tryFaults } from "./faults.ts";
import type { PlaceName } from "./place.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    store: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const everywhere: readonly PlaceName[] = ["files", "S3"];
const places = everywhere.filter((name) => values.store === undefined || name === values.store);
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
if (places.length === 0 || !Number.isInteger(rounds) || !Number.isInteger(seed)) {
  console.error("faults: --rounds and --seed are whole numbers, --store is files or S3");
  process.exit(2);
}

const told = values.json ? {} : { onProgress: (line: string) => console.error(line) };
const stopped = new AbortController();
// What was found until then is told all the same.
process.once("SIGINT", () => stopped.abort());
const reports = await tryFaults({ rounds, seed, places, signal: stopped.signal, ...told });

if (values.json) console.log(JSON.stringify(reports));
else {
  const row = (name: string, figure: (report: (typeof reports)[number]) => string | number) => [
    name,
    ...reports.map(figure),
  ];
  const names = [...new Set(reports.flatMap((report) => Object.keys(report.acts)))].sort();
  const table = new Table({
    head: ["", ...reports.map(({ place }) => place)],
    style: { head: [], border: [] },
    colAligns: ["left", ...reports.map(() => "right" as const)],
  });
  table.push(
    ...names.map((name) =>
      row(name, ({ acts }) => {
        const { done, refused } = acts[name] ?? { done: 0, refused: 0 };
        return refused === 0 ? done : `${done}, refused ${refused}`;
      }),
    ),
    row("rounds", (report) => report.rounds),
    row("publishes acknowledged", ({ acknowledged }) => acknowledged),
    row("publishes that failed with a reason", ({ failed }) => failed),
    row("whole roots read", ({ roots }) => roots),
    row("objects written anew", ({ mended }) => mended),
    row("polls answered", ({ polls }) => polls.answered),
    row("polls refused while a blob was damaged", ({ polls }) => polls.refused),
    row("slowest poll, ms", ({ polls }) => polls.slowestMs),
    row("seconds", ({ seconds }) => seconds),
    row("acknowledged and lost, undone, half or late", ({ violations }) => violations.length),
  );
  console.log(table.toString());
  console.log(`seed ${seed}`);
  for (const { place, violations } of reports)
    for (const text of violations) console.log(`FAILED at ${place}: ${text}`);
}
process.exitCode = reports.every(({ violations }) => violations.length === 0) ? 0 : 1;
