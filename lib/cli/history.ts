import { showWrites, type WritesOptions } from "./config/config-history.ts";
import { storeOption } from "./named-store.ts";
import { wholeNumber } from "./numbers.ts";
import { showPublications } from "./snapshots/history.ts";
import type { Register } from "./terminal.ts";

/** `portolan history`: what was published; with a source or an object, who wrote what. */
export const registerHistory: Register = (program, terminal) => {
  program
    .command("history [type] [name]")
    .description("Lists publications, newest first; with --source or an object, its writes and their authors.")
    .addOption(storeOption(", with --source the URL of a compile function too"))
    .option("--config", "only publications that changed configuration, which `rollback` counts")
    .option("--source <name>", "writes to this source's configuration instead of publications")
    .option("-n, --namespace <name>", "namespace of the object", "default")
    .option("--limit <number>", "how many of the newest entries to read", wholeNumber(1), 20)
    .option("--diff <from..to>", "what differs between two writes")
    .option("--json", "one JSON object a line")
    .addHelpText(
      "after",
      "\nExamples:\n  portolan history\n  portolan history --config\n  portolan history --source operators\n  portolan history virtualservice reviews -n bookshop",
    )
    .action(
      async (
        type: string | undefined,
        name: string | undefined,
        options: WritesOptions & { readonly config?: boolean },
      ) => {
        if (options.source === undefined && type === undefined && options.diff === undefined) {
          await showPublications(terminal, options);
        } else await showWrites(terminal, type, name, options);
      },
    );
};
