import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { parseDuration } from "../../base/duration.ts";
import { type Replicated, replicate } from "../../snapshot/regions/replicate.ts";
import { isFolder } from "../../storage/store-location.ts";
import { stopOnSignal } from "../collect/run-collector.ts";
import { examplesText } from "../examples.ts";
import { openTarget, openToWrite, placeThere, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import type { Terminal } from "../terminal.ts";
import { needDifferentStores } from "./different-stores.ts";

interface Options {
  readonly store?: string;
  readonly every?: number;
  readonly prune?: boolean;
  readonly discard?: boolean;
  readonly json?: boolean;
}

export function registerReplicate(program: Command, terminal: Terminal): void {
  program
    .command("replicate <copy>")
    .description("Copies this store to a store of another region, which must have no publisher of its own.")
    .addOption(storeOption())
    .option("--every <duration>", "keep running, and check for new versions this often", readEvery)
    .option("--prune", "delete from the copy what the original lacks and is older than a day")
    .option("--discard", "discard what was published into the copy directly")
    .option("--json", "what was copied, as JSON")
    .addHelpText(
      "after",
      examplesText([
        "replicate s3://mesh-west/prod --store s3://mesh-east/prod",
        "replicate copy/ --store mesh/ --every 10s",
      ]),
    )
    .action(async (copy: string, { store, every, prune = false, discard = false, json = false }: Options) => {
      const where = await placeThere(store);
      const places = { original: placeOf(where), copy: placeOf(copy) };
      await needDifferentStores(where, copy);
      const from = await openTarget(where);
      const to = await openToWrite(copy, terminal.progress);
      const once = () => replicate(from, to, { places, prunes: prune, discards: discard });
      const tell = (done: Replicated) => terminal.out(json ? JSON.stringify(done) : lineOf(done));
      if (every === undefined) return tell(await once());
      terminal.err("Ctrl-C ends it");
      const stop = stopOnSignal();
      let trouble = "";
      while (!stop.aborted) {
        try {
          const done = await once();
          if (done.objects > 0 || done.deleted > 0 || trouble !== "") tell(done);
          trouble = "";
        } catch (cause) {
          if (!(cause instanceof PortolanError)) throw cause;
          if (cause.message !== trouble) terminal.err(`not copied, and tried again: ${cause.message}`);
          trouble = cause.message;
        }
        await sleep(every, undefined, { signal: stop }).catch(() => {});
      }
    });
}

/** One text for each place: a folder as it lies, or what names a bucket, without slashes that say nothing. */
function placeOf(store: string): string {
  if (isFolder(store)) return resolve(store);
  const [place = "", ...options] = store.split("?");
  return [place.replace(/(?<!\/)\/+$/, ""), ...options].join("?");
}

function lineOf({ generation, at = "", objects, bytes, deleted }: Replicated): string {
  const gone = deleted === 0 ? "" : `, ${deleted} deleted`;
  return `generation ${generation} of ${at}: ${counted(objects, "object")} copied, ${Math.ceil(bytes / 1024)} KiB${gone}`;
}

/** @returns milliseconds */
function readEvery(text: string): number {
  const nanos = parseDuration(text);
  const everyMs = nanos === undefined ? 0 : Number(nanos / 1_000_000n);
  if (everyMs < 1_000) throw new InvalidArgumentError("a duration from 1s, like 10s or 5m");
  return everyMs;
}
