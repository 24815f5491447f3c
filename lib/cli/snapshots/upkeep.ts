import type { Command } from "commander";
import { collectedSources } from "../../compile/collect-sources.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { collectGarbage } from "../../snapshot/collect-garbage.ts";
import { collectables } from "../../snapshot/collectables.ts";
import { fsck } from "../../snapshot/fsck.ts";
import { keyringOption, trustOf } from "../keyring.ts";
import type { Terminal } from "../terminal.ts";
import { defaultStore, openStore, storeDescription, storeOption } from "./open-store.ts";

/** `gc` and `fsck`. */
export function registerUpkeep(program: Command, terminal: Terminal): void {
  program
    .command("gc")
    .description("Deletes what nothing names any more: one run names it, a run an hour later deletes it.")
    .option(storeOption, storeDescription, defaultStore)
    .option("--keep <publications>", "how many roots that were served can still be rolled back to", "50")
    .addOption(keyringOption())
    .action(async ({ store, keep, keyring }: { store: string; keep: string; keyring: string }) => {
      const trust = await trustOf(keyring);
      const others = [...collectables, collectedSources];
      const options = { keepPublications: Number(keep), graceMs: 3_600_000, now: Date.now, others, ...trust };
      const { done, deleted, doomed, kept } = await collectGarbage(await openStore(store), options);
      if (!done) throw new PortolanError("somebody else is publishing or collecting; try again later");
      terminal.out(`${deleted} deleted, ${doomed} to be deleted in an hour or later, ${kept} kept`);
    });

  program
    .command("fsck")
    .description("Proves that everything that can be asked for is there and unharmed.")
    .option(storeOption, storeDescription, defaultStore)
    .option("--keep <publications>", "how far back the history is kept")
    .addOption(keyringOption())
    .action(async ({ store, keep, keyring }: { store: string; keep?: string; keyring: string }) => {
      const { trusted } = await trustOf(keyring);
      const result = await fsck(await openStore(store), {
        ...(keep === undefined ? {} : { keepPublications: Number(keep) }),
        ...(trusted === undefined ? {} : { trusted }),
      });
      for (const problem of result.problems) terminal.out(problem);
      terminal.out(`${result.publications} publications, ${result.roots} roots, ${result.blobs} blobs`);
      if (result.problems.length > 0) throw new PortolanError(`${result.problems.length} problems`);
    });
}
