import type { Command } from "commander";
import { clockAheadMs, clockWarnings, headTimeNow, writerAheadMs } from "../../snapshot/clock.ts";
import { readHead } from "../../snapshot/head.ts";
import { type HeadStatus, statusOf } from "../../snapshot/head-status.ts";
import type { HistoryEntry } from "../../snapshot/history.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { examplesText } from "../examples.ts";
import { openThere, storeOption } from "../named-store.ts";
import type { Terminal } from "../terminal.ts";

/** `portolan status`: what is served, what is newest, and what lies between. */
export function registerStatus(program: Command, terminal: Terminal): void {
  program
    .command("status")
    .description("Shows what is served, what holds it, and what was published since then.")
    .addOption(storeOption())
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["status", "status --store s3://mesh/prod --json"]))
    .action(async ({ store: where, json }: { readonly store?: string; readonly json?: boolean }) => {
      const store = await openThere(where);
      const read = await readHead(store);
      if (read === undefined) {
        terminal.err("nothing was published yet");
        return;
      }
      const nowMs = await headTimeNow(store, read, Date.now);
      const status = await statusOf(createSnapshotReader(store), read.head, nowMs);
      const warnings = clockWarnings(await clockAheadMs(store, Date.now), writerAheadMs(read));
      if (json === true) return terminal.out(JSON.stringify({ ...status, warnings }, undefined, 2));
      for (const line of statusLines(status)) terminal.out(line);
      for (const warning of warnings) terminal.err(warning);
    });
}

const maxHeld = 20;
const short = (root: string) => root.slice(0, 12);

/** One line for each fact, with the facts that lead to the next command last. */
function statusLines(status: HeadStatus): readonly string[] {
  const { served, since, steps, pin, canary, newest, held } = status;
  const lines = [row("served", `${short(served)}${since === undefined ? "" : `  since ${entryText(since)}`}`)];
  for (const { root, at } of steps) lines.push(row("then", `${short(root)}  from ${at}`));
  if (canary !== undefined) {
    const { percent, labels, root } = canary;
    const chosen = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const isForNobody = percent === 0 && chosen.length === 0;
    const who = isForNobody ? "nobody until `portolan promote`" : [`${percent} %`, ...chosen].join(", ");
    lines.push(row("canary", `${short(root)}  for ${who}`));
  }
  if (pin === undefined) return lines;
  const { by, why, since: from, until } = pin;
  lines.push(
    row("pinned", `by ${by || "somebody"} since ${from}${until === undefined ? "" : ` until ${until}`}: ${why}`),
  );
  lines.push(row("newest", short(newest)));
  for (const entry of held.slice(0, maxHeld)) lines.push(row("", `${short(entry.root)}  ${entryText(entry)}`));
  if (held.length > maxHeld) lines.push(row("", `and ${held.length - maxHeld} more`));
  if (newest !== served)
    lines.push("`portolan diff SERVED NEWEST` shows what lies between, `portolan unpin` leads there");
  return lines;
}

const row = (name: string, text: string) => `${name.padEnd(8)}${text}`;

function entryText({ at, generation, reason, by, why }: HistoryEntry): string {
  const who = by === undefined ? "" : ` by ${by}`;
  return `${at}  generation ${generation}, ${reason}${who}${why === undefined ? "" : `: ${why}`}`;
}
