import { getHeapStatistics } from "node:v8";
import { type Command, Option } from "commander";
import { storeOption } from "../named-store.ts";
import { wholeNumber } from "../numbers.ts";
import { keyringOption } from "../secrets/keyring.ts";

/** What every origin's command takes. */
export interface CollectOptions {
  readonly store?: string;
  readonly source: string;
  readonly keyring: string;
  readonly once?: boolean;
  /** False for `--no-compile`. */
  readonly compile: boolean;
  readonly port?: number;
  readonly host: string;
  readonly staleAfter: number;
  readonly allowEmpty?: boolean;
  readonly takeOver?: boolean;
  readonly json?: boolean;
}

/** What those take that hold in memory what lives elsewhere. */
export interface LiveOptions extends CollectOptions {
  /** MiB. */
  readonly maxSize: number;
}

/** Of the memory that Node gives itself a quarter: a first push takes as much again, and garbage its share. */
const usualMaxSize = Math.floor(getHeapStatistics().heap_size_limit / 4 / 2 ** 20);

/** @param source the name that a source has where nobody gives one */
export function addLiveOptions(command: Command, source: string): Command {
  return addCollectOptions(command, source).addOption(
    new Option(
      "--max-size <MiB>",
      "size limit of the collected objects; beyond it, the collector keeps what it has and reports an error",
    )
      .argParser(wholeNumber(1))
      .default(usualMaxSize, "a quarter of the memory that Node allows itself"),
  );
}

/** @param source the name that a source has where nobody gives one */
export function addCollectOptions(command: Command, source: string): Command {
  return command
    .addOption(storeOption(", or the URL of a compile function"))
    .option("--source <name>", "the source to fill; it must have no other writer", source)
    .option("--once", "fill the source once and exit")
    .option("--no-compile", "only fill the source; another process compiles")
    .option("--port <port>", "serve /readyz and /metrics on this port, 0 takes any", wholeNumber(0, 65_535))
    .option("--host <address>", "address for them", "127.0.0.1")
    .option("--stale-after <seconds>", "report not ready when the source is older than this", wholeNumber(1), 60)
    .option("--allow-empty", "continue when the origin is empty, and delete objects of kinds that it no longer serves")
    .option("--take-over", "replace the objects of a source that another origin has filled")
    .addOption(keyringOption())
    .option("--json", "one JSON object a line instead of text");
}
