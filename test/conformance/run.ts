/** `npm run conformance`: compares what we generate with what Istio answered, case by case. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import { hasShared } from "../shared.ts";
import { carriedCases } from "./carried-cases.ts";
import { isGroup } from "./groups.ts";
import { importInserted, insertedSuites } from "./istio/stored.ts";
import { type CaseOutcome, isEqual, summaryOf } from "./outcome.ts";
import { writePassing } from "./passing.ts";
import { report } from "./report.ts";
import { showCase } from "./show.ts";
import { bytesOf, carriedFolders, sizeBound, sizeLines } from "./size.ts";
import { importFolder } from "./store/carried.ts";
import { caseNames } from "./store/case-store.ts";
import { type CaseFolder, foldersOf, runCase, type Suite } from "./suite.ts";
import { outside, type SuiteName, suiteNames, suiteOf } from "./suites.ts";

interface Options {
  readonly suite?: SuiteName | "all";
  readonly dir?: string;
  readonly group?: string;
  readonly case?: string;
  readonly json?: true;
  readonly diff?: true;
  readonly show?: true;
  readonly size?: true;
  readonly import?: string;
  readonly importIstio?: string;
  readonly updatePassing?: true;
  readonly status?: true;
}

const command = new Command("conformance")
  .description("compares generated resources with the expected files of conformance cases")
  .addOption(new Option("--suite <name>", "which cases; default: all but v1").choices([...suiteNames, "all"]))
  .option("--dir <folder>", "cases in another folder, as they are recorded or as the repository keeps them")
  .option("--group <name>", "only this feature group: its name, a part of it, or the word in about.txt")
  .option("--case <name>", "only this case")
  .option("--json", "print one object: {suite, groups, total, failing}")
  .option("--diff", "print every difference, not only the first ones")
  .option("--status", "compare also what is written to the objects of the Gateway API")
  .option("--show", "print the case that --case names: inputs and every answer in full")
  .option("--size", "print what the recorded cases weigh in a checkout")
  .option("--import-istio <folder>", "take what Istio answered its own proxies: <suite>/<case>/<proxy>/<type>.json")
  .option("--import <folder>", "take the cases of a folder into the repository, suite by the folder's name")
  .option("--update-passing", "rewrite passing.txt");

const options: Options = command.parse().opts();

async function main(): Promise<void> {
  if (options.import !== undefined) return importCases(options.import);
  if (options.importIstio !== undefined) return importIstio(options.importIstio);
  if (options.size === true) return size();
  if (options.dir === undefined) sayWhatIsLeftOut();
  const chosen: (readonly [Suite, CaseFolder])[] = [];
  for (const name of chosenSuites()) {
    const suite = await suiteOf(name);
    const folders = foldersOf(suite, options.dir === undefined ? suite.dirs : [options.dir]);
    chosen.push(...folders.filter(isChosen).map((folder) => [suite, folder] as const));
  }
  if (options.show) return show(chosen.map(([, folder]) => folder));
  const outcomes: CaseOutcome[] = [];
  for (const [suite, folder] of chosen) outcomes.push(await runCase(suite, folder, options.status));
  if (options.updatePassing && options.dir === undefined) writePassing(outcomes);
  const isApart = ({ suite }: CaseOutcome) => options.suite === undefined && suite === ofIstio;
  const together = outcomes.filter((outcome) => !isApart(outcome));
  say(options.suite ?? (options.dir === undefined ? "all" : suiteIn(options.dir)), together);
  // The same cases once more: they are no part of the total.
  const apart = outcomes.filter(isApart);
  if (apart.length > 0 && !options.json) say(ofIstio, apart);
  if (outcomes.length === 0) {
    process.stderr.write("no case matches; see --help for what --group and --case take\n");
  }
  process.exitCode = outcomes.length > 0 && outcomes.every(isEqual) ? 0 : 1;
}

const ofIstio = "istio-proxies";

/** How the groups begin of cases that were recorded from Istio 1.31. */
const newGroups = "Next, ";

function say(suite: string, outcomes: readonly CaseOutcome[]): void {
  const summary = summaryOf(suite, outcomes);
  const text = options.json
    ? JSON.stringify(summary, undefined, 2)
    : report(summary, outcomes, options.diff ? Number.POSITIVE_INFINITY : 3);
  process.stdout.write(`${text}\n`);
}

function chosenSuites(): readonly SuiteName[] {
  if (options.suite === "all") return suiteNames;
  if (options.suite !== undefined) return [options.suite];
  if (options.dir !== undefined) return [suiteIn(options.dir)];
  // A case to be shown is looked for everywhere.
  return options.show ? suiteNames : ["v3", "v3-samples", "gateway-api", "grpc", "v3-next", ofIstio];
}

/** The suite that a folder's cases are of: those of `v3-next` are about what Istio 1.31 brought, those of `grpc` say what is asked for. */
function suiteIn(dir: string): SuiteName {
  if (foldersOf({ name: "", dirs: [dir] }).some(({ group }) => group.startsWith(newGroups))) return "v3-next";
  return caseNames(dir).some((name) => existsSync(join(dir, name, "requests.json"))) ? "grpc" : "v3";
}

function isChosen({ group, name }: CaseFolder): boolean {
  const wanted = options.case;
  return (
    (options.group === undefined || isGroup(group, options.group)) &&
    (wanted === undefined || name === wanted || basename(name) === basename(wanted))
  );
}

function sayWhatIsLeftOut(): void {
  const missing = chosenSuites().flatMap((name) => outside[name] ?? []);
  if (hasShared || missing.length === 0) return;
  process.stderr.write(`skipped, since they lie in ../shared, which is not there: ${missing.join("; ")}\n`);
}

function show(folders: readonly CaseFolder[]): void {
  const [folder, ...others] = folders;
  if (folder === undefined || others.length > 0) {
    const what = folder === undefined ? "no case matches" : `${folders.length} cases match`;
    process.stderr.write(`${what}; --show wants one, named by --case\n`);
    process.exitCode = 1;
  } else process.stdout.write(showCase(folder));
}

function size(): void {
  const carried = carriedFolders();
  process.stdout.write(`${sizeLines(carried).join("\n")}\n`);
  process.exitCode = bytesOf(carried) <= sizeBound ? 0 : 1;
}

function importIstio(folder: string): void {
  for (const suite of insertedSuites) {
    const source = join(folder, suite);
    if (!existsSync(source)) continue;
    const names = importInserted(source, suite, fileURLToPath(new URL(`${suite}/`, carriedCases)));
    process.stdout.write(`${suite}: took ${names.length} cases\n`);
  }
}

function importCases(folder: string): void {
  const { taken, left } = importFolder(folder);
  process.stdout.write(`took ${taken.length} cases, left ${left.length} that are not ours to carry\n`);
}

await main();
