import type { Command } from "commander";
import { tellRecompiled } from "../dev/recompiled-text.ts";
import { examplesText } from "../examples.ts";
import { openThere, storeOption } from "../named-store.ts";
import { noProgress } from "../progress.ts";
import { createRecordingRecompiler } from "../recording-recompiler.ts";
import { keyringOption, trustOf } from "../secrets/keyring.ts";
import type { Terminal } from "../terminal.ts";
import { addPublishingOptions, type PublishingOptions, publishingOf } from "./publishing-options.ts";

interface Options extends PublishingOptions {
  readonly store?: string;
  readonly keyring: string;
  readonly json?: boolean;
}

export function registerRecompile(program: Command, terminal: Terminal): void {
  const command = program
    .command("recompile")
    .description("Compiles what a store's sources hold with this version of Portolan, and publishes the result.")
    .addOption(storeOption())
    .addOption(keyringOption())
    .option("--json", "the result, with all diagnostics, as JSON")
    .addHelpText(
      "after",
      examplesText([
        "recompile --store s3://mesh/prod",
        "recompile --no-serve --why 'version 0.2' && portolan diff SERVED NEWEST && portolan canary NEWEST --percent 10",
      ]),
    );
  addPublishingOptions(command).action(async (options: Options) => {
    const publishing = publishingOf(options);
    const store = await openThere(options.store, terminal.progress);
    const { observer } = terminal.progress ?? noProgress;
    const publisher = await trustOf(options.keyring);
    const recompile = await createRecordingRecompiler({ store, publisher, observer }, terminal.err);
    const recompiled = await recompile(publishing);
    if (options.json === true) return terminal.out(JSON.stringify(recompiled));
    tellRecompiled(terminal, recompiled, publishing.share);
  });
}
