/** The compile function as a Lambda function: signed requests to its URL, events of S3, a queue and a schedule make it compile. */
import { handle, type LambdaContext, type LambdaEvent } from "hono/aws-lambda";
import pino from "pino";
import { logObserver, logStaleSources, troubleLog } from "../lib/compile/telemetry/log.ts";
import { observers } from "../lib/compile/telemetry/observer.ts";
import { spansToCollector } from "../lib/compile/telemetry/otlp.ts";
import { createLeasedCompiler } from "../lib/compile/triggers/leased-compiler.ts";
import { readLambdaEvent } from "../lib/compile/triggers/notice.ts";
import { readPace } from "../lib/compile/triggers/pace.ts";
import { webhookApp } from "../lib/compile/webhook/app.ts";
import { readWebhookSecrets } from "../lib/compile/webhook/webhook-secrets.ts";
import { worldFromSettings } from "../lib/compile/world-settings.ts";
import { readTrust } from "../lib/snapshot/head/signing-keys.ts";
import { s3FromEnvironment } from "./s3-from-environment.ts";

const { PORTOLAN_SOURCES = "main" } = process.env;
const secrets = readWebhookSecrets(
  {
    WEBHOOK_SECRET: process.env.PORTOLAN_WEBHOOK_SECRET,
    SOURCE_SECRETS: process.env.PORTOLAN_SOURCE_SECRETS,
    GITHUB_SECRETS: process.env.PORTOLAN_GITHUB_SECRETS,
    GITLAB_SECRETS: process.env.PORTOLAN_GITLAB_SECRETS,
  },
  "PORTOLAN_",
);
const world = worldFromSettings(
  {
    BINARY_FORMS: process.env.PORTOLAN_BINARY_FORMS,
    CERTIFICATES: process.env.PORTOLAN_CERTIFICATES,
    LEGACY_API: process.env.PORTOLAN_LEGACY_API,
    LEGACY_RELEASE: process.env.PORTOLAN_LEGACY_RELEASE,
    POLL_DELAY_MS: process.env.PORTOLAN_POLL_DELAY_MS,
  },
  "PORTOLAN_",
);
const publisher = readTrust(
  { signer: process.env.PORTOLAN_SIGNING_KEY, trusted: process.env.PORTOLAN_TRUSTED_KEYS },
  { signer: "PORTOLAN_SIGNING_KEY", trusted: "PORTOLAN_TRUSTED_KEYS" },
);
const store = s3FromEnvironment();
const sources = PORTOLAN_SOURCES.split(",");
const pace = readPace(
  {
    DEBOUNCE_MS: process.env.PORTOLAN_DEBOUNCE_MS,
    DEBOUNCE_MAX_MS: process.env.PORTOLAN_DEBOUNCE_MAX_MS,
    LEASE_SECONDS: process.env.PORTOLAN_LEASE_SECONDS,
    COMPILE_SECONDS: process.env.PORTOLAN_COMPILE_SECONDS,
  },
  "PORTOLAN_",
);
const log = pino();
const spans = await spansToCollector(process.env);
const observer = observers([logObserver(log), ...(spans === undefined ? [] : [spans.observer])]);
const recompile = createLeasedCompiler({ store, sources, world, publisher, pace, observer, ...troubleLog(log) });
const { onError } = troubleLog(log);
const answerRequest = handle(webhookApp({ store, recompile, sources, secrets, onError }));

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
  const notice = readLambdaEvent(event, process.env.PORTOLAN_PREFIX);
  log.info(notice, notice.asks ? "woken" : "woken for nothing: no source is told of");
  if (!notice.asks) return { kind: "ignored", ...notice };
  const compiled = await recompile(undefined, notice.sentMs);
  logStaleSources(log, compiled.diagnostics);
  return compiled;
}

const isRequest = (event: unknown): event is LambdaEvent =>
  typeof event === "object" && event !== null && "requestContext" in event;
