/**
 * `npm run bench -- [names] [--services 100,1000] [--held 5000] [--quick] [--json]`: runs benchmarks, prints tables.
 * With `--against FOLDER [--turns 3]` each in turns with that of another checkout, and how the two compare.
 */
import { parseArgs } from "node:util";
import { admissionBench } from "./admission.bench.ts";
import { adsBench } from "./ads.bench.ts";
import { compareWith, problemOfFolder } from "./against.ts";
import { agentBench } from "./agent.bench.ts";
import { caBench } from "./ca.bench.ts";
import { clusterBench } from "./cluster.bench.ts";
import { compileBench } from "./compile.bench.ts";
import { configBench } from "./config.bench.ts";
import { crowdBench } from "./crowd.bench.ts";
import { edgeBench } from "./edge.bench.ts";
import { fleetBench } from "./fleet.bench.ts";
import { frontBench } from "./front.bench.ts";
import { gatewayApiBench } from "./gateway-api.bench.ts";
import { istioCasesBench } from "./istio-cases.bench.ts";
import { limitsBench } from "./limits.bench.ts";
import { meshBench } from "./mesh.bench.ts";
import { registryBench } from "./registry.bench.ts";
import { type BenchOptions, jsonReport, type Report, textReport } from "./report.ts";
import { snapshotBench } from "./snapshot.bench.ts";
import { sourcesBench } from "./sources.bench.ts";
import { switchBench } from "./switch.bench.ts";
import { v1Bench } from "./v1.bench.ts";
import { waitsBench } from "./waits.bench.ts";
import { workerBench } from "./worker.bench.ts";
import { yardstick } from "./yardstick.ts";

const benchmarks: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  config: configBench,
  admission: admissionBench,
  registry: registryBench,
  mesh: meshBench,
  "istio-cases": istioCasesBench,
  fleet: fleetBench,
  "gateway-api": gatewayApiBench,
  snapshot: snapshotBench,
  compile: compileBench,
  v1: v1Bench,
  worker: workerBench,
  waits: waitsBench,
  front: frontBench,
  crowd: crowdBench,
  ads: adsBench,
  sources: sourcesBench,
  switch: switchBench,
  agent: agentBench,
  edge: edgeBench,
  ca: caBench,
  cluster: clusterBench,
  limits: limitsBench,
};

const usage = `npm run bench -- [names] [options]

names: ${Object.keys(benchmarks).join(", ")}; all where none is given
docs/benchmarks.md says what each of them measures and how its tables are read.

--services 100,1000  sizes of the synthetic mesh; 100,1000,5000 when absent, of which the last takes minutes
--held 5000          of \`front\` only so many held polls
--quick              to see that it runs: the first size, few rounds
--against FOLDER     another checkout beside this one, in turns, and the ratios; --turns 3 of those that take a process each
--json               one object a line, for programs`;

const { values, positionals } = readArguments();

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        services: { type: "string", default: "100,1000,5000" },
        held: { type: "string" },
        against: { type: "string" },
        turns: { type: "string", default: "3" },
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (cause) {
    console.error(`bench: ${cause instanceof Error ? cause.message : cause}\n${usage}`);
    process.exit(1);
  }
}

/** @returns what is wrong with the command line */
function problemOf(names: readonly string[], services: readonly number[]): string | undefined {
  const unknown = names.find((name) => !Object.hasOwn(benchmarks, name));
  if (unknown !== undefined)
    return `there is no benchmark "${unknown}"; there are ${Object.keys(benchmarks).join(", ")}`;
  if (services.some((size) => !Number.isInteger(size) || size < 1))
    return `--services ${values.services}: whole numbers, with commas between`;
  if (held !== undefined && !(Number.isInteger(held) && held > 0)) return `--held ${values.held}: a whole number`;
  if (!Number.isInteger(turns) || turns < 1) return `--turns ${values.turns}: a whole number`;
  return values.against === undefined ? undefined : problemOfFolder(values.against);
}

const names = positionals.length === 0 ? Object.keys(benchmarks) : positionals;
const services = values.services.split(",").map(Number);
const held = values.held === undefined ? undefined : Number(values.held);
const turns = Number(values.turns);
const problem = problemOf(names, services);
if (values.help) console.log(usage);
else if (problem === undefined) await runAll();
else {
  console.error(`bench: ${problem}`);
  process.exitCode = 1;
}

async function runAll(): Promise<void> {
  const json = jsonReport();
  const report = values.json ? json : textReport(console.log);
  if (values.against === undefined) await runEach(report);
  else await compareWith({ folder: values.against, names, services, quick: values.quick, turns, report });
  if (!values.json) return;
  const { suites, tables, lines } = json;
  const [suite = ""] = Object.keys(suites);
  // Of one benchmark that has rows for programs those come first.
  const rows = names.length === 1 && suites[suite] !== undefined ? { suite, rows: suites[suite] } : { suites };
  console.log(JSON.stringify({ ...rows, tables, lines }, null, 2));
}

async function runEach(report: Report): Promise<void> {
  report.line(
    "ms: median of rounds that each begin after a garbage collection; running: of rounds that follow each other",
  );
  for (const name of names) {
    // Anew for each: the machine may have become slower in between.
    const yard = await yardstick();
    report.line(`\n${name} (yardstick ${yard.medianMs.toFixed(1)} ms)`);
    await benchmarks[name]?.({ report, yard, services, quick: values.quick, held });
  }
}
