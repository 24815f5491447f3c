import { type Command, Option } from "commander";
import { keyText, PortolanError } from "../../base/diagnostic.ts";
import { refuseCollected } from "../../compile/shards/write-shard.ts";
import { sha256 } from "../../config/canonical-json.ts";
import type { Config } from "../../config/config.ts";
import { keyOf } from "../../config/config.ts";
import { storedText } from "../../config/object-json.ts";
import type { WriteResult } from "../../config-store/config-store.ts";
import { tellIfPinned } from "../dev/recompiled-text.ts";
import { examplesText } from "../examples.ts";
import { kubeOption } from "../kube/kube-connection.ts";
import { writeToCluster } from "../kube/kube-write.ts";
import { counted } from "../numbers.ts";
import { jsonOption } from "../output-option.ts";
import type { Register, Terminal } from "../terminal.ts";
import { addInputOptions, configInput, type InputOptions } from "./config-input.ts";
import { nameOf, type OutputFormat, outputFormats, printObjects, shownConfig } from "./config-print.ts";
import { addTargetOptions, type ConfigTarget, openTarget, type TargetOptions } from "./config-target.ts";
import { warnOfFolder } from "./warn-of-folder.ts";

interface WriteOptions extends InputOptions, TargetOptions {
  readonly dryRun?: boolean;
  readonly output?: OutputFormat;
  readonly kube?: string;
}

/** What a verb asks of the objects that are there already. */
interface WriteVerb {
  readonly name: "apply" | "create" | "replace";
  readonly about: string;
  readonly if?: "absent" | "present";
}

/** `portolan apply -f …`: creates what is not there, and replaces what is. */
export const registerApply: Register = (program, terminal) =>
  registerWrite(program, terminal, {
    name: "apply",
    about: "Creates or replaces the objects of files, in one commit; in a cluster, applies them server-side.",
  });

/** `portolan create -f …`: fails on what exists. */
export const registerCreate: Register = (program, terminal) => {
  const about = "Creates the objects of files; none may exist.";
  registerWrite(program, terminal, { name: "create", about, if: "absent" });
};

/** `portolan replace -f …`: fails on what does not exist. */
export const registerReplace: Register = (program, terminal) => {
  const about = "Replaces objects by those of files; all must exist.";
  registerWrite(program, terminal, { name: "replace", about, if: "present" });
};

/** Adds one of the commands that write the objects of files: all of them in one commit, or none. */
function registerWrite(program: Command, terminal: Terminal, verb: WriteVerb): void {
  const command = program.command(verb.name).description(verb.about);
  command.addHelpText(
    "after",
    examplesText([
      `${verb.name} -f mesh/`,
      `${verb.name} -f mesh/ --kube=prod`,
      `${verb.name} -f a.yaml --dry-run`,
      `${verb.name} -f - -o json < a.yaml`,
    ]),
  );
  addTargetOptions(addInputOptions(command))
    .option("--dry-run", "check everything, and write nothing")
    .addOption(new Option("-o, --output <format>", "print the objects").choices(outputFormats))
    .addOption(jsonOption())
    .addOption(kubeOption("into a live Kubernetes cluster instead of a store; Kubernetes' own kinds too"))
    .action(async (options: WriteOptions) => {
      const { kube } = options;
      if (kube !== undefined) return writeToCluster({ ...options, kube }, verb.name, verb.if, terminal);
      const configs = await configInput(options, terminal, verb.name);
      const place = await openTarget({ ...options, isNew: verb.if !== "present", warn: terminal.err });
      await write(place, configs, options, verb, terminal);
    });
}

async function write(
  place: ConfigTarget,
  configs: readonly Config[],
  options: WriteOptions,
  verb: WriteVerb,
  terminal: Terminal,
): Promise<void> {
  await refuseCollected(place.objects, place.source);
  if (verb.if !== "present" && !place.isRemote) await warnOfFolder(place.objects, configs, terminal);
  const { ledger } = place.configs;
  const before = new Map(await ledger.list((await ledger.head()).root));
  const condition = verb.if === undefined ? {} : { if: verb.if };
  if (options.dryRun === true) {
    for (const config of configs) {
      const there = before.has(keyText(keyOf(config)));
      if (verb.if === "absent" && there) throw new PortolanError(`${nameOf(config.meta)} already exists`);
      if (verb.if === "present" && !there) throw new PortolanError(`${nameOf(config.meta)} does not exist`);
    }
  } else {
    const changes = configs.map((config) => ({ kind: "put", config, ...condition }) as const);
    const result = await place.configs.writeAll(changes, `${verb.name} ${counted(configs.length, "object")}`);
    if (result.kind === "refused") throw new PortolanError(`${result.key}: ${refusalText(result.result)}`);
    tellIfPinned(terminal, await place.publish());
  }
  const { revision } = await ledger.head();
  if (options.output !== undefined) {
    printObjects(
      terminal,
      configs.map((config) => shownConfig(options.source, config)),
      options.output,
    );
    return;
  }
  for (const config of configs) terminal.out(doneText(config, before, revision, options.dryRun === true));
}

function doneText(config: Config, before: ReadonlyMap<string, string>, revision: number, dryRun: boolean): string {
  const old = before.get(keyText(keyOf(config)));
  const end = dryRun ? " (dry run)" : "";
  if (old === undefined) return `Created config ${nameOf(config.meta)} at revision ${revision}${end}`;
  if (old === sha256(storedText(config))) return `Unchanged config ${nameOf(config.meta)}${end}`;
  return `Updated config ${nameOf(config.meta)} to revision ${revision}${end}`;
}

export function refusalText(result: WriteResult): string {
  switch (result.kind) {
    case "exists":
      return "already exists";
    case "missing":
      return "does not exist";
    case "conflict": {
      const { winner } = result;
      const who = winner === undefined ? "" : ` by ${winner.author} at revision ${winner.revision}`;
      return `was changed${who} since it was read`;
    }
    case "invalid":
      return result.diagnostics.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
    case "written":
      return "written";
  }
}
