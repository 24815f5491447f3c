/** `npm run conformance`: compares what we generate with what Istio answered, case by case. */
import { basename } from "node:path";
import { Command, Option } from "commander";
import { isGroup } from "./groups.ts";
import { type CaseOutcome, isEqual, summaryOf } from "./outcome.ts";
import { writePassing } from "./passing.ts";
import { report } from "./report.ts";
import { foldersOf, runCase } from "./suite.ts";
import { type SuiteName, suiteNames, suiteOf } from "./suites.ts";

interface Options {
  readonly suite?: SuiteName | "all";
  readonly dir?: string;
  readonly group?: string;
  readonly case?: string;
  readonly json?: true;
  readonly diff?: true;
  readonly updatePassing?: true;
}

const command = new Command("conformance")
  .description("compares generated resources with the expected files of conformance cases")
  .addOption(new Option("--suite <name>", "which cases; default: v3 and v3-samples").choices([...suiteNames, "all"]))
  .option("--dir <folder>", "cases of the same layout in another folder")
  .option("--group <name>", "only this feature group: its name, a part of it, or the word in about.txt")
  .option("--case <name>", "only this case")
  .option("--json", "print one object: {suite, groups, total, failing}")
  .option("--diff", "print every difference, not only the first ones")
  .option("--update-passing", "rewrite passing.txt");

const options: Options = command.parse().opts();

async function main(): Promise<void> {
  const outcomes: CaseOutcome[] = [];
  for (const name of chosenSuites()) {
    const suite = await suiteOf(name);
    const folders = foldersOf(suite, options.dir).filter(
      (folder) =>
        (options.group === undefined || isGroup(folder.group, options.group)) &&
        (options.case === undefined || folder.name === basename(options.case)),
    );
    for (const folder of folders) outcomes.push(await runCase(suite, folder));
  }
  const summary = summaryOf(options.suite ?? (options.dir === undefined ? "all" : "v3"), outcomes);
  if (options.updatePassing && options.dir === undefined) writePassing(outcomes);
  const text = options.json
    ? JSON.stringify(summary, undefined, 2)
    : report(summary, outcomes, options.diff ? Number.POSITIVE_INFINITY : 3);
  process.stdout.write(`${text}\n`);
  if (outcomes.length === 0) {
    process.stderr.write("no case matches; see --help for what --group and --case take\n");
  }
  process.exitCode = outcomes.length > 0 && outcomes.every(isEqual) ? 0 : 1;
}

function chosenSuites(): readonly SuiteName[] {
  if (options.suite === "all") return suiteNames;
  if (options.suite !== undefined) return [options.suite];
  return options.dir === undefined ? ["v3", "v3-samples"] : ["v3"];
}

await main();
