import type { Command } from "commander";
import { collectedSources } from "../../compile/collect-sources.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { collectGarbage } from "../../snapshot/collect-garbage.ts";
import { collectables } from "../../snapshot/collectables.ts";
import { fsck } from "../../snapshot/fsck.ts";
import { examplesText } from "../examples.ts";
import { keyringOption, trustOf } from "../keyring.ts";
import { openThere, storeOption } from "../named-store.ts";
import { wholeNumber } from "../numbers.ts";
import type { Terminal } from "../terminal.ts";

/** `gc` and `fsck`. */
export function registerUpkeep(program: Command, terminal: Terminal): void {
  program
    .command("gc")
    .description("Deletes what nothing names any more: one run names it, a run an hour later deletes it.")
    .addOption(storeOption())
    .option("--keep <publications>", "how many roots that were served can still be rolled back to", wholeNumber(1), 50)
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["gc", "gc --keep 200 --store s3://mesh/prod"]))
    .addOption(keyringOption())
    .action(
      async ({
        store,
        keep,
        keyring,
        json = false,
      }: {
        store?: string;
        keep: number;
        keyring: string;
        json?: boolean;
      }) => {
        const trust = await trustOf(keyring);
        const others = [...collectables, collectedSources];
        const options = { keepPublications: keep, graceMs: 3_600_000, now: Date.now, others, ...trust };
        const { done, deleted, doomed, kept } = await collectGarbage(await openThere(store), options);
        if (!done) throw new PortolanError("somebody else is publishing or collecting; try again later");
        if (json) return terminal.out(JSON.stringify({ deleted, doomed, kept }));
        terminal.out(`${deleted} deleted, ${doomed} to be deleted in an hour or later, ${kept} kept`);
      },
    );

  program
    .command("fsck")
    .description("Proves that everything that can be asked for is there and unharmed.")
    .addOption(storeOption())
    .option("--keep <publications>", "how far back the history is kept", wholeNumber(1))
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["fsck", "fsck --store s3://mesh/prod --json"]))
    .addOption(keyringOption())
    .action(
      async ({
        store,
        keep,
        keyring,
        json = false,
      }: {
        store?: string;
        keep?: number;
        keyring: string;
        json?: boolean;
      }) => {
        const { trusted } = await trustOf(keyring);
        const result = await fsck(await openThere(store), {
          ...(keep === undefined ? {} : { keepPublications: keep }),
          ...(trusted === undefined ? {} : { trusted }),
        });
        if (json) terminal.out(JSON.stringify(result));
        else {
          for (const problem of result.problems) terminal.out(problem);
          terminal.out(`${result.publications} publications, ${result.roots} roots, ${result.blobs} blobs`);
        }
        if (result.problems.length > 0) throw new PortolanError(`${result.problems.length} problems`);
      },
    );
}
