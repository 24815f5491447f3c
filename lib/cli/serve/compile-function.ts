import { createIsolatedCompile } from "../../compile/isolation/isolated-compile.ts";
import { compileTrouble, errorLog, type Log, logStaleSources, troubleLog } from "../../compile/telemetry/log.ts";
import type { CompileObserver } from "../../compile/telemetry/observer.ts";
import { createLeasedCompiler } from "../../compile/triggers/leased-compiler.ts";
import { forgeWaitMs } from "../../compile/webhook/answer-in-time.ts";
import { webhookFunction } from "../../compile/webhook/app.ts";
import { coalesce } from "../../compile/webhook/coalesce.ts";
import { underWayMs } from "../../compile/webhook/delivery.ts";
import { compileSettingsFrom } from "../../compile/world/settings-from-environment.ts";
import { listening, serveHttp } from "../../front/node-server.ts";
import { defaultPace } from "../../registry/origin/retry.ts";
import { createNodeResolver } from "../../resolve/node-resolver.ts";
import { resolvingCompiler } from "../../resolve/resolving-compiler.ts";
import { timedResolver } from "../../resolve/timed-resolver.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import { sourceOf } from "../../settings/collector-rules.ts";
import { environmentOf } from "../../settings/environment.ts";
import type { Settings } from "../../settings/schema.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { actorName } from "../actor.ts";
import { createCompileProcess } from "./compile-process.ts";
import { runScheduledGc } from "./scheduled-gc.ts";

/** The compile function: its requests, its schedule and its lease in this process, the compiles in another one. */
export interface CompileFunction {
  /** Where it takes signed requests. */
  readonly url: string;
  /** Has what the sources hold compiled, soon; failures are told, and tried again. */
  ask(): void;
  /** Takes no more requests, and resolves when what is under way is done. */
  close(): Promise<void>;
}

export interface CompileFunctionOptions {
  readonly store: ObjectStore;
  /** The same, as `openStore` takes it. */
  readonly where: string;
  readonly settings: Settings;
  /** Good for asking to compile, besides those of the settings: the front's. */
  readonly ownSecret: string;
  readonly log: Log;
  readonly observer: CompileObserver;
}

const usualEverySeconds = 60;

/** Between two look-ups that no compile asks for, in milliseconds. */
const leastLookUpMs = 10_000;

/**
 * Starts it: it compiles at once, when somebody asks, and by a schedule. Of several on one store one compiles at a time.
 *
 * @throws PortolanError for a setting that says what it cannot, and for a port that is taken
 */
export async function startCompileFunction(options: CompileFunctionOptions): Promise<CompileFunction> {
  const { store, where, settings, ownSecret, log, observer } = options;
  const { webhook = {}, everySeconds = usualEverySeconds } = settings.compile ?? {};
  const hasStreams = (settings.front?.grpcPort ?? settings.front?.tlsPort) !== undefined;
  const env = { PORTOLAN_BINARY_FORMS: String(hasStreams), ...environmentOf(settings) };
  // Read here too, so that what cannot be is said before anything starts.
  const { secrets: read, audiences, repositories, pace, publisher } = compileSettingsFrom(env);
  const sources = sourcesOf(settings);
  const trouble = troubleLog(log);
  const compiling = createCompileProcess({
    where,
    s3Endpoint: settings.s3Endpoint,
    sources,
    env,
    observer,
    onTrouble: ({ of, reason }) => compileTrouble(log)[of](reason),
  });
  const compile = createIsolatedCompile({
    store,
    primary: sources[0],
    attempt: compiling.attempt,
    now: Date.now,
    onWaiting: () => setImmediate(() => ask()),
  });
  // A store that sees changes by itself is a disk, which needs no packs.
  const writesPacks = store.watch === undefined;
  const leased = createLeasedCompiler({ store, pace, observer, compile, writesPacks, ...trouble });
  const resolver = createNodeResolver(store, env, publisher, awsKms({ onWarning: () => {} }));
  const timed = timedResolver(resolver, {
    leastMs: leastLookUpMs,
    othersMs: everySeconds * 1000,
    onChanged: (why) => goesOn(recompile({ by: "resolver", why }).catch(ask)),
    log,
  });
  const compileInTurn = resolvingCompiler(leased, timed.resolve, log);
  const logErrors = errorLog(log);
  const recompile: typeof compileInTurn = async (publishing) => {
    const recompiled = await compileInTurn(publishing);
    logErrors(recompiled.diagnostics);
    return recompiled;
  };

  const stop = new AbortController();
  const compiled = coalesce(async () => {
    for (let failures = 1; ; failures += 1) {
      try {
        const { diagnostics } = await recompile({ by: actorName() });
        return logStaleSources(log, diagnostics);
      } catch {
        // The observer has told of it.
        await defaultPace.pause(defaultPace.backOff(failures), stop.signal);
        if (stop.signal.aborted) return;
      }
    }
  });
  let last = Promise.resolve();
  const ask = () => {
    last = compiled();
  };

  const { host = "127.0.0.1", port = 0 } = webhook;
  const secrets = { ...read, fronts: [...read.fronts, ownSecret] };
  // The front beside it asks at its own address.
  const audiencesHere = () => (audiences.length === 0 ? [] : [...audiences, new URL(server.url).host]);
  /** What goes on although it was answered. */
  const late = new Set<Promise<unknown>>();
  const goesOn = (work: Promise<unknown>) => {
    late.add(work);
    void work.finally(() => late.delete(work));
  };
  const { app, resume } = webhookFunction({
    store,
    recompile,
    sources,
    secrets,
    audiences: audiencesHere,
    repositories,
    answer: { withinMs: forgeWaitMs, goesOn },
    onError: trouble.onError,
  });
  const server = await listening(serveHttp(app, port, host), `${host}:${port}`, "set compile.webhook.port to another");
  const collecting = runScheduledGc({ store, settings, trust: publisher, log, signal: stop.signal });
  // What nothing catches there is a fault of ours: it is logged, and costs no compile.
  collecting.catch((cause: unknown) => log.error({ cause }, "garbage is not collected any more"));
  compiling.start();
  const onResumeError = (cause: unknown) => {
    trouble.onError(cause);
    return 0;
  };
  /** Carries out what a process that has ended had promised, as soon as it is known to have ended. */
  const takeUp = coalesce(async () => {
    while ((await resume().catch(onResumeError)) > 0 && !stop.signal.aborted)
      await defaultPace.pause(underWayMs, stop.signal);
  });
  goesOn(takeUp());
  const timer = setInterval(() => {
    ask();
    goesOn(takeUp());
  }, everySeconds * 1000);
  return {
    url: server.url,
    ask,
    async close() {
      stop.abort();
      clearInterval(timer);
      timed.close();
      await server.close();
      await Promise.all(late);
      await last;
      await collecting.catch(() => {});
      compiling.close();
    },
  };
}

/** Those that are named, else those that the collectors fill. */
export function sourcesOf({ compile = {}, collectors = [] }: Settings): readonly string[] {
  if (compile.sources !== undefined) return compile.sources;
  return collectors.length === 0 ? ["main"] : collectors.map(sourceOf);
}
