import { type Command, InvalidArgumentError } from "commander";
import { parseDuration } from "../../config/duration.ts";
import type { Word } from "../../snapshot/head-operations.ts";
import { actorName } from "../actor.ts";

/** Who acts and why, as the command line says it. */
export interface WordOptions {
  readonly by?: string;
  readonly why?: string;
  /** Milliseconds since the epoch. */
  readonly until?: number;
}

/** Adds the options for the history: who, and why. */
export function addWordOptions(command: Command): Command {
  return command
    .option("--why <reason>", "for the history, and for whoever asks later")
    .option("--by <who>", "who does it (default: $PORTOLAN_AUTHOR, CI's actor, or user@host)");
}

/** The same, and how long what comes of it is pinned. */
export function addPinOptions(command: Command): Command {
  return addWordOptions(command).option(
    "--until <time>",
    "pinned until then: a duration (90m, 12h) or a time (2026-01-31T12:00:00Z); default: until `portolan unpin`",
    (text: string) => readTime(text, Date.now()),
  );
}

export function wordOf({ by = actorName(), why, until }: WordOptions): Word {
  return { by, ...(why === undefined ? {} : { why }), ...(until === undefined ? {} : { untilMs: until }) };
}

function readTime(text: string, nowMs: number): number {
  const nanos = parseDuration(text);
  const atMs = nanos === undefined ? Date.parse(text) : nowMs + Number(nanos / 1_000_000n);
  if (Number.isNaN(atMs) || atMs <= nowMs) throw new InvalidArgumentError("a duration like 90m, or a time to come");
  return atMs;
}
