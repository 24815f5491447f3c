/** Compiles slices of a world's classes as a Lambda function: the compile function sends each as a message of SQS, and joins what comes of them. */
import pino from "pino";
import { isFields, jsonIn, listOf, textOf } from "../lib/base/untyped.ts";
import { ownBuild } from "../lib/cli/own-build.ts";
import { createSliceCompiler } from "../lib/compile/slices/compile-slice.ts";
import { compileMessages } from "../lib/compile/slices/messages.ts";
import { s3FromEnvironment } from "./s3-from-environment.ts";

const compile = createSliceCompiler(s3FromEnvironment(), { build: await ownBuild() });
const log = pino();

/** Those of a batch that failed come again, the others do not: the event source has `ReportBatchItemFailures`. */
interface BatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export async function handler(event: unknown): Promise<BatchAnswer> {
  const records = isFields(event) ? listOf(event.Records).filter(isFields) : [];
  const isDone = await compileMessages(
    records.map(({ body }) => jsonIn(textOf(body))),
    compile,
    log,
  );
  const failed = records.filter((_record, at) => isDone[at] !== true);
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: textOf(messageId) })) };
}
