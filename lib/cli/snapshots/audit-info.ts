import { type Command, InvalidArgumentError } from "commander";
import { parseDuration } from "../../base/duration.ts";
import { isWithin, maxFreeTextBytes } from "../../snapshot/free-text.ts";
import type { Until, Word } from "../../snapshot/head/head-operations.ts";
import { actorName } from "../actor.ts";

/** Who acts and why, as the command line says it. */
export interface AuditOptions {
  readonly by?: string;
  readonly why?: string;
  readonly until?: Until;
}

/** Adds the options for the history: who, and why. */
export function addAuditOptions(command: Command): Command {
  return command
    .option("--why <reason>", "the reason, for the history")
    .option("--by <author>", "the author (default: $PORTOLAN_AUTHOR, CI's actor, or user@host)");
}

/** The same, and how long what comes of it is pinned. */
export function addPinOptions(command: Command): Command {
  return addAuditOptions(command).option(
    "--until <time>",
    "pinned until then: a duration (90m, 12h) or a time (2026-01-31T12:00:00Z); default: until `portolan unpin`",
    readUntil,
  );
}

/** @throws InvalidArgumentError for a text that is longer than HEAD and the history take; the text itself would fill the terminal */
export function auditInfoOf({ by = actorName(), why, until }: AuditOptions): Word {
  refuseLong("--by", by, maxFreeTextBytes.by);
  refuseLong("--why", why ?? "", maxFreeTextBytes.why);
  return { by, ...(why === undefined ? {} : { why }), ...(until === undefined ? {} : { until }) };
}

function refuseLong(option: string, text: string, maxBytes: number): void {
  if (!isWithin(text, maxBytes))
    throw new InvalidArgumentError(`${option} has more than ${maxBytes} bytes; say it in fewer words`);
}

/** What this machine's clock shows has no part in it: the store's clock says when a pin begins, and whether a time is over. */
function readUntil(text: string): Until {
  const nanos = parseDuration(text);
  const until = nanos === undefined ? { atMs: Date.parse(text) } : { afterMs: Number(nanos / 1_000_000n) };
  if ("atMs" in until ? Number.isNaN(until.atMs) : until.afterMs <= 0)
    throw new InvalidArgumentError("a duration like 90m, or a time to come");
  return until;
}
