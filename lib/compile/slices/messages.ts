import { causeText } from "../../base/cause-text.ts";
import type { Log } from "../telemetry/log.ts";
import type { SliceCompiler } from "./compile-slice.ts";
import { readSliceJob, sliceText } from "./plan.ts";

/**
 * Compiles the slices that messages ask for, one after the other. What is no slice is told of, and done with: it would come again for
 * nothing.
 *
 * @returns for each message whether it is done
 */
export async function compileMessages(
  messages: readonly unknown[],
  compile: SliceCompiler,
  log: Log,
): Promise<readonly boolean[]> {
  const isDone: boolean[] = [];
  for (const message of messages) isDone.push(await compileMessage(message, compile, log));
  return isDone;
}

async function compileMessage(message: unknown, compile: SliceCompiler, log: Log): Promise<boolean> {
  const job = readSliceJob(message);
  if (job === undefined) {
    log.error({}, "a message that is no slice is passed over");
    return true;
  }
  const slice = sliceText(job.index, job.plan.of);
  try {
    const { root } = await compile(job);
    log.info({ slice, root }, "compiled a slice");
    return true;
  } catch (cause) {
    log.error({ slice, reason: causeText(cause) }, "a slice was not compiled, and is tried again");
    return false;
  }
}
