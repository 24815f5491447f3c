/** The compile function at the edge: signed requests, events of R2, a queue and a clock make it compile what the sources hold. */
import type { ExecutionContext, R2Bucket, ScheduledController } from "@cloudflare/workers-types";
import { type AdmissionSettings, admissionFromSettings } from "../lib/admission/admission-settings.ts";
import { PortolanError } from "../lib/base/diagnostic.ts";
import { keptPublicationsIn, runGarbageCollection } from "../lib/compile/garbage.ts";
import { workerMemory } from "../lib/compile/recompile/worker-memory.ts";
import { consoleLog, errorLog, logObserver, logStaleSources, troubleLog } from "../lib/compile/telemetry/log.ts";
import { createLeasedCompiler, type LeasedCompiler } from "../lib/compile/triggers/leased-compiler.ts";
import { type PaceSettings, readPace } from "../lib/compile/triggers/pace.ts";
import { type QueuedMessage, readQueueBatch } from "../lib/compile/triggers/trigger-event.ts";
import { forgeWaitMs } from "../lib/compile/webhook/answer-in-time.ts";
import { type WebhookFunction, webhookFunction } from "../lib/compile/webhook/app.ts";
import { problem } from "../lib/compile/webhook/delivery.ts";
import { readRepositories } from "../lib/compile/webhook/repository/read-repositories.ts";
import { readAudiences } from "../lib/compile/webhook/signature.ts";
import { readWebhookSecrets } from "../lib/compile/webhook/webhook-secrets.ts";
import { type WorldSettings, worldFromSettings } from "../lib/compile/world/world-settings.ts";
import { cronIn, sourceNamesIn } from "../lib/config/setting-values.ts";
import { createDnsOverHttps, usualDnsEndpoint } from "../lib/resolve/dns-over-https.ts";
import { usualWithinMs } from "../lib/resolve/fetch-text.ts";
import { pullSecrets } from "../lib/resolve/modules/pull-secrets.ts";
import { createResolver } from "../lib/resolve/resolver.ts";
import { type ResolverSettings, readResolverSettings } from "../lib/resolve/resolver-settings.ts";
import { resolvingCompiler } from "../lib/resolve/resolving-compiler.ts";
import { readTrust } from "../lib/snapshot/head/signing-keys.ts";
import { r2Store } from "../lib/storage/r2.ts";
import { prefixIn } from "../lib/storage/store-location.ts";
import { countedStore } from "./counted-store.ts";
import { createRateLimiter, type RateLimit } from "./rate-limit.ts";

export interface Env extends WorldSettings, PaceSettings, ResolverSettings, AdmissionSettings {
  /** Opens the Secrets with credentials of registries that images of modules are pulled from. */
  readonly PORTOLAN_SECRETS_KEY?: string;
  readonly SNAPSHOTS: R2Bucket;
  readonly PREFIX?: string;
  /** Names of the source shards, separated by commas, the primary first. */
  readonly SOURCES?: string;
  /** Secrets, as `readWebhookSecrets` reads them. */
  readonly PORTOLAN_WEBHOOK_SECRET?: string;
  readonly PORTOLAN_FRONT_SECRET?: string;
  readonly PORTOLAN_SOURCE_SECRETS?: string;
  readonly PORTOLAN_GITHUB_SECRETS?: string;
  readonly PORTOLAN_GITLAB_SECRETS?: string;
  /** As `readRepositories` reads them; the tokens are a secret. */
  readonly PORTOLAN_REPOSITORIES?: string;
  readonly PORTOLAN_REPOSITORY_TOKENS?: string;
  /** Hosts that requests may be signed for, separated by commas; absent: the one that a request is sent to. */
  readonly PORTOLAN_WEBHOOK_AUDIENCE?: string;
  /** Private key that signs HEAD, and public keys of which one must have signed it before. */
  readonly PORTOLAN_SIGNING_KEY?: string;
  readonly PORTOLAN_TRUSTED_KEYS?: string;
  /** The line of `crons` at which garbage is collected; absent or empty: never. */
  readonly GC_CRON?: string;
  /** Publications that can be rolled back to; 50 when absent. */
  readonly GC_KEEP?: string;
  /** Of an earlier release, which compiled large meshes in a third Worker; has no effect. */
  readonly COMPILE_SLICES?: string;
  /** How many requests an address may make; without it nothing is counted. The queue and the clock are no requests. */
  readonly RATE_LIMIT?: RateLimit;
  /** Which deployment this is, so that an isolate takes from the store what one of the same code has compiled; without it everything is compiled. */
  readonly CF_VERSION_METADATA?: { readonly id: string };
}

/** What is written to the console is a Worker's log. */
const log = consoleLog(console.log);
const logErrors = errorLog(log);
const rates = createRateLimiter(console.error);

/** Of a module of Wasm: a Worker has 128 MiB for everything, and holds what a compile has made. */
const mostModuleBytes = 16 * 1024 * 1024;

/** An invocation may ask the bucket 10,000 times. What is left after these is for the batch under way and the end of a run. */
const mostOperations = 9_000;

interface Compiler extends WebhookFunction {
  readonly recompile: LeasedCompiler;
  /** The line of `crons` at which `collect` runs; undefined: none. */
  readonly gcCron: string | undefined;
  readonly collect: () => Promise<unknown>;
}

/** One compiler for each isolate, so that what did not change is not compiled again. */
const compilers = new WeakMap<R2Bucket, Compiler>();

function compilerFor(env: Env): Compiler {
  const known = compilers.get(env.SNAPSHOTS);
  if (known !== undefined) return known;
  const store = r2Store(env.SNAPSHOTS, prefixIn("PREFIX", env.PREFIX));
  const world = worldFromSettings(env);
  const publisher = readTrust(
    { signer: env.PORTOLAN_SIGNING_KEY, trusted: env.PORTOLAN_TRUSTED_KEYS },
    { signer: "PORTOLAN_SIGNING_KEY", trusted: "PORTOLAN_TRUSTED_KEYS" },
  );
  const sources = sourceNamesIn("SOURCES", env.SOURCES, "main");
  const pace = readPace(env);
  const { onError } = troubleLog(log);
  const observer = logObserver(log);
  const build = env.CF_VERSION_METADATA?.id;
  if (env.COMPILE_SLICES !== undefined)
    log.warn(
      {},
      "COMPILE_SLICES has no effect any more: this Worker compiles meshes of every size. Remove it, and delete the Worker portolan-slices",
    );
  const compileInTurn = createLeasedCompiler({
    store,
    sources,
    world,
    publisher,
    build,
    pace,
    observer,
    writesPacks: true,
    memoryLimits: workerMemory,
    ...troubleLog(log),
  });
  const resolverRules = readResolverSettings(env);
  // A platform that has no way into private networks need not be kept from them.
  const resolve =
    resolverRules &&
    createResolver({
      store,
      fetch,
      askDns: createDnsOverHttps(() => fetch, resolverRules.dnsOverHttps ?? usualDnsEndpoint),
      allowedHosts: resolverRules.allowedHosts,
      withinMs: usualWithinMs,
      now: Date.now,
      trust: publisher,
      maxModuleBytes: mostModuleBytes,
      ...pullSecrets(store, env.PORTOLAN_SECRETS_KEY, "PORTOLAN_SECRETS_KEY"),
    });
  const recompile = resolve === undefined ? compileInTurn : resolvingCompiler(compileInTurn, resolve, log);
  const settings = {
    WEBHOOK_SECRET: env.PORTOLAN_WEBHOOK_SECRET,
    FRONT_SECRET: env.PORTOLAN_FRONT_SECRET,
    SOURCE_SECRETS: env.PORTOLAN_SOURCE_SECRETS,
    GITHUB_SECRETS: env.PORTOLAN_GITHUB_SECRETS,
    GITLAB_SECRETS: env.PORTOLAN_GITLAB_SECRETS,
  };
  const secrets = readWebhookSecrets(settings, "PORTOLAN_");
  const audiences = readAudiences(env.PORTOLAN_WEBHOOK_AUDIENCE);
  const repositories = readRepositories({
    REPOSITORIES: env.PORTOLAN_REPOSITORIES,
    REPOSITORY_TOKENS: env.PORTOLAN_REPOSITORY_TOKENS,
  });
  const { app, resume } = webhookFunction({
    store,
    recompile,
    sources,
    secrets,
    audiences: () => audiences,
    repositories,
    answer: { withinMs: forgeWaitMs },
    onError,
  });
  const admission = admissionFromSettings(env, { store, sources, world, onError });
  if (admission !== undefined) app.route("/", admission);
  const gcCron = cronIn("GC_CRON", env.GC_CRON);
  const keepPublications = keptPublicationsIn("GC_KEEP", env.GC_KEEP);
  const collect = () => {
    const { store: counted, spent } = countedStore(store, mostOperations);
    return runGarbageCollection({
      store: counted,
      keepPublications,
      trust: publisher,
      log,
      now: Date.now,
      signal: spent,
    });
  };
  const compiler = { recompile, app, resume, gcCron, collect };
  compilers.set(env.SNAPSHOTS, compiler);
  return compiler;
}

/** The parts of a Worker's execution context that Hono needs. */
type Context = Pick<ExecutionContext, "waitUntil" | "passThroughOnException" | "props">;

/** A setting that cannot be read is the operator's to see, not a bare "exception thrown". */
function answer(request: Request, env: Env, context: Context): Response | Promise<Response> {
  try {
    return compilerFor(env).app.fetch(request, env, context);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    log.error({ reason: cause.message }, "a setting cannot be read");
    return problem(500, cause.message);
  }
}

async function compile(env: Env, sentMs?: number): Promise<void> {
  const { diagnostics } = await compilerFor(env).recompile(undefined, sentMs);
  logStaleSources(log, diagnostics);
  logErrors(diagnostics);
}

export default {
  fetch: (request: Request, env: Env, context: Context): Promise<Response> =>
    rates.answer({ request, limit: env.RATE_LIMIT, context }, () => answer(request, env, context)),
  scheduled: async ({ cron }: Pick<ScheduledController, "cron">, env: Env) => {
    const { gcCron, collect, resume } = compilerFor(env);
    if (cron === gcCron) return void (await collect());
    await resume().catch(troubleLog(log).onError);
    await compile(env);
  },
  // A batch is asked for again as a whole when this fails, and is one compile.
  queue: async ({ messages }: { readonly messages: readonly QueuedMessage[] }, env: Env) => {
    const trigger = readQueueBatch(messages, env.PREFIX);
    log.info(trigger, trigger.asks ? "woken" : "triggered without a change: the event names no source");
    if (trigger.asks) await compile(env, trigger.sentMs);
  },
};
