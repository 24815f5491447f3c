/** The compile function as a Lambda function: signed requests to its URL, events of S3, a queue and a schedule make it compile. */
import { handle, type LambdaContext, type LambdaEvent } from "hono/aws-lambda";
import pino from "pino";
import { admissionFromSettings } from "../lib/admission/admission-settings.ts";
import { PortolanError } from "../lib/base/diagnostic.ts";
import { ownBuild } from "../lib/cli/own-build.ts";
import type { FanOut } from "../lib/compile/slices/fan-out.ts";
import { fanOutByQueue } from "../lib/compile/slices/fan-out-by-queue.ts";
import { readSlicing } from "../lib/compile/slices/slice-settings.ts";
import { errorLog, logObserver, logStaleSources, troubleLog } from "../lib/compile/telemetry/log.ts";
import { observers } from "../lib/compile/telemetry/observer.ts";
import { spansToCollector } from "../lib/compile/telemetry/otlp.ts";
import { createLeasedCompiler } from "../lib/compile/triggers/leased-compiler.ts";
import { readLambdaEvent } from "../lib/compile/triggers/trigger-event.ts";
import { webhookApp } from "../lib/compile/webhook/app.ts";
import { compileSettingsFrom } from "../lib/compile/world/settings-from-environment.ts";
import { sourceNamesIn } from "../lib/config/setting-values.ts";
import { createNodeResolver } from "../lib/resolve/node-resolver.ts";
import { resolvingCompiler } from "../lib/resolve/resolving-compiler.ts";
import { s3FromEnvironment } from "./s3-from-environment.ts";
import { slicesToSqs } from "./slice-queue.ts";

const { secrets, audiences, repositories, world, publisher, pace } = compileSettingsFrom(process.env);
const store = s3FromEnvironment();
const sources = sourceNamesIn("PORTOLAN_SOURCES", process.env.PORTOLAN_SOURCES, "main");
const log = pino();
const spans = await spansToCollector(process.env);
const observer = observers([logObserver(log), ...(spans === undefined ? [] : [spans.observer])]);
const compileInTurn = createLeasedCompiler({
  store,
  sources,
  world,
  publisher,
  build: await ownBuild(),
  pace,
  observer,
  writesPacks: true,
  ...troubleLog(log),
  ...fanOutTo(),
});
const recompile = resolvingCompiler(compileInTurn, createNodeResolver(store, process.env, publisher), log);
const { onError } = troubleLog(log);
const logErrors = errorLog(log);
// An environment is frozen once it has answered, so a webhook is answered at the end, however long that takes.
const app = webhookApp({ store, recompile, sources, secrets, audiences: () => audiences, repositories, onError });
const admission = admissionFromSettings(
  {
    PORTOLAN_ADMISSION_TOKEN: process.env.PORTOLAN_ADMISSION_TOKEN,
    ADMISSION_WORKLOADS: process.env.PORTOLAN_ADMISSION_WORKLOADS,
    ADMISSION_WORLD: process.env.PORTOLAN_ADMISSION_WORLD,
    ADMISSION_INJECTION: process.env.PORTOLAN_ADMISSION_INJECTION,
  },
  { store, sources, world, onError },
  "PORTOLAN_",
);
if (admission !== undefined) app.route("/", admission);
const answerRequest = handle(app);

/** @throws PortolanError for a setting that says what it cannot, or slices that nobody takes */
function fanOutTo(): { readonly fanOut?: FanOut } {
  const { PORTOLAN_COMPILE_SLICES: most, PORTOLAN_SLICE_QUEUE_URL: queue = "" } = process.env;
  const { slices } = readSlicing({ COMPILE_SLICES: most }, "PORTOLAN_");
  if (slices === 1) return {};
  if (queue === "") throw new PortolanError("PORTOLAN_COMPILE_SLICES needs a queue: PORTOLAN_SLICE_QUEUE_URL");
  const dispatch = slicesToSqs(queue, process.env.PORTOLAN_SQS_ENDPOINT);
  return { fanOut: fanOutByQueue(dispatch, { slices, pace, log }) };
}

export async function handler(event: unknown, context?: LambdaContext): Promise<unknown> {
  try {
    return await answer(event, context);
  } finally {
    // Who is frozen sends nothing.
    await spans?.flush().catch(onError);
  }
}

async function answer(event: unknown, context?: LambdaContext): Promise<unknown> {
  if (isRequest(event)) return answerRequest(event, context);
  const trigger = readLambdaEvent(event, process.env.PORTOLAN_PREFIX);
  log.info(trigger, trigger.asks ? "woken" : "triggered without a change: the event names no source");
  if (!trigger.asks) return { kind: "ignored", ...trigger };
  const compiled = await recompile(undefined, trigger.sentMs);
  logStaleSources(log, compiled.diagnostics);
  logErrors(compiled.diagnostics);
  return compiled;
}

const isRequest = (event: unknown): event is LambdaEvent =>
  typeof event === "object" && event !== null && "requestContext" in event;
