/** Compiles slices of a world's classes at the edge: the compile function sends each as a message of a queue, and joins what comes of them. */
import type { R2Bucket } from "@cloudflare/workers-types";
import { createSliceCompiler, type SliceCompiler } from "../lib/compile/slices/compile-slice.ts";
import { compileMessages } from "../lib/compile/slices/messages.ts";
import { consoleLog } from "../lib/compile/telemetry/log.ts";
import { r2Store } from "../lib/storage/r2.ts";
import { prefixIn } from "../lib/storage/store-location.ts";

export interface Env {
  readonly SNAPSHOTS: R2Bucket;
  readonly PREFIX?: string;
}

interface Message {
  readonly body: unknown;
  ack(): void;
  retry(): void;
}

const log = consoleLog(console.log);

/** One for each isolate. It keeps nothing of a slice: an isolate has little room, and the next one is another. */
const compilers = new WeakMap<R2Bucket, SliceCompiler>();

function compilerFor({ SNAPSHOTS, PREFIX }: Env): SliceCompiler {
  const compile =
    compilers.get(SNAPSHOTS) ??
    createSliceCompiler(r2Store(SNAPSHOTS, prefixIn("PREFIX", PREFIX)), { remembers: false });
  compilers.set(SNAPSHOTS, compile);
  return compile;
}

export default {
  async queue({ messages }: { readonly messages: readonly Message[] }, env: Env): Promise<void> {
    const isDone = await compileMessages(
      messages.map(({ body }) => body),
      compilerFor(env),
      log,
    );
    // One that failed comes again by itself, and ends among the dead letters.
    for (const [at, message] of messages.entries()) isDone[at] === true ? message.ack() : message.retry();
  },
};
