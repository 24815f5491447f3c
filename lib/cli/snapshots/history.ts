import type { Command } from "commander";
import { readHistory } from "../../snapshot/history.ts";
import { createSnapshotReader, readHead, rootAt } from "../../snapshot/snapshot-reader.ts";
import type { Terminal } from "../terminal.ts";
import { defaultStore, openStore, storeDescription, storeOption } from "./open-store.ts";

export function registerHistory(program: Command, terminal: Terminal): void {
  program
    .command("history")
    .description("Lists what was published, newest first; `>` marks what is served now.")
    .option(storeOption, storeDescription, defaultStore)
    .option("-n, --count <count>", "how many", "20")
    .option("--json", "one JSON object a line")
    .action(async ({ store: where, count, json }: { store: string; count: string; json?: boolean }) => {
      const store = openStore(where);
      const read = await readHead(store);
      if (read === undefined) {
        terminal.err("nothing was published yet");
        return;
      }
      const served = rootAt(read.head, Date.now());
      let left = Number(count);
      for await (const entry of readHistory(createSnapshotReader(store), read.head.publication)) {
        if (left <= 0) return;
        left -= 1;
        const { generation, at, reason, root } = entry;
        const mark = root === served ? ">" : " ";
        terminal.out(
          json === true
            ? JSON.stringify({ generation, at, reason, root })
            : `${mark} ${String(generation).padStart(5)}  ${at}  ${reason.padEnd(8)}  ${root.slice(0, 12)}`,
        );
      }
    });
}
