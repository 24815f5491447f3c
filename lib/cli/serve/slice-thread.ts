import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { createSliceCompiler } from "../../compile/slices/compile-slice.ts";
import { readSliceJob } from "../../compile/slices/plan.ts";
import { openStore } from "../../storage/open-store.ts";
import type { SliceAnswer, SliceThreadData } from "./slice-threads.ts";

/** A thread that compiles slices, one after the other: a message is a slice's job, and is answered when its record is written. */
export async function runSliceThread(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("this is no thread");
  const { where, s3Endpoint, remembers, build }: SliceThreadData = workerData;
  const store = await openStore(where, { s3Endpoint });
  const compile = createSliceCompiler(store, { remembers, build });
  answering(port, async (message) => {
    const job = readSliceJob(message);
    if (job === undefined) throw new PortolanError("what was sent is no slice");
    await compile(job);
  });
}

/** Answers each message, one at a time: two slices at once would need the room of both. */
function answering(port: MessagePort, act: (message: unknown) => Promise<void>): void {
  let last = Promise.resolve();
  port.on("message", (message: unknown) => {
    last = last.then(async () => {
      const answer: SliceAnswer = await act(message).then(
        () => ({ kind: "done" }),
        (cause: unknown) => ({
          kind: "failed",
          reason: causeText(cause),
          diagnostics: cause instanceof PortolanError ? cause.diagnostics : [],
        }),
      );
      port.postMessage(answer);
    });
  });
}
