/**
 * A process that fills its source and compiles all of them, again and again, to be killed:
 * `node publisher-process.ts <source> <first number> <clock ahead, ms> <store> [<S3 endpoint>]`. Writes an `Answer` a line.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { openStore } from "../../lib/storage/open-store.ts";
import { pace, restMs, textOf } from "./mesh.ts";
import type { Answer } from "./publishers.ts";

const [source = "", first = "0", aheadMs = "0", where = "", endpoint] = process.argv.slice(2);
const store = await openStore(where, { s3Endpoint: endpoint });
const recompile = createRecompiler({ store, publisher: { pace, now: () => Date.now() + Number(aheadMs) } });
const say = (answer: Answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

for (let number = Number(first); ; number += 1) {
  try {
    await writeShard(store, source, [{ file: "shop.yaml", text: textOf(source, number) }]);
    const { kind, generation, version: root } = await recompile();
    // Said only now: whoever reads it may count on it.
    say({ kind, number, generation, root });
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    say({ kind: "failed", reason: cause.message });
  }
  await sleep(Math.random() * restMs);
}
