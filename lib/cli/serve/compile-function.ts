import { compileSettingsFrom } from "../../compile/settings-from-environment.ts";
import type { FanOut } from "../../compile/slices/fan-out.ts";
import type { Slicing } from "../../compile/slices/slice-settings.ts";
import {
  errorLog,
  type Log,
  layTrouble,
  logStaleSources,
  sliceTrouble,
  troubleLog,
} from "../../compile/telemetry/log.ts";
import type { CompileObserver } from "../../compile/telemetry/observer.ts";
import { createLeasedCompiler } from "../../compile/triggers/leased-compiler.ts";
import { sliceWaitMs } from "../../compile/triggers/pace.ts";
import { webhookApp } from "../../compile/webhook/app.ts";
import { coalesce } from "../../compile/webhook/coalesce.ts";
import { listening, serveHttp } from "../../front/node-server.ts";
import { defaultPace } from "../../registry/retry.ts";
import { sourceOf } from "../../settings/collector-rules.ts";
import { environmentOf } from "../../settings/environment.ts";
import type { Settings } from "../../settings/schema.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { actorName } from "../actor.ts";
import { ownBuild } from "../own-build.ts";
import { layingByThread } from "./laying-thread.ts";
import { createSliceThreads, type SliceThreads, type SliceThreadsOptions } from "./slice-threads.ts";

/** The compile function in this process. */
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

/**
 * Starts it: it compiles at once, when somebody asks, and by a schedule. Of several on one store one compiles at a time.
 *
 * @throws PortolanError for a setting that says what it cannot, and for a port that is taken
 */
export async function startCompileFunction(options: CompileFunctionOptions): Promise<CompileFunction> {
  const { store, where, settings, ownSecret, log, observer } = options;
  const { webhook = {}, everySeconds = usualEverySeconds } = settings.compile ?? {};
  const hasStreams = settings.front?.grpcPort !== undefined;
  const env = { PORTOLAN_BINARY_FORMS: String(hasStreams), ...environmentOf(settings) };
  const { secrets: read, audiences, world, publisher, pace, slicing } = compileSettingsFrom(env);
  const sources = sourcesOf(settings);
  const trouble = troubleLog(log);
  const build = await ownBuild();
  const storeOfThreads = { where, s3Endpoint: settings.s3Endpoint };
  const threads = sliceThreadsFor(slicing, { ...storeOfThreads, build, onTrouble: sliceTrouble(log) });
  const writesBeside = threads === undefined && slicing.workers > 1;
  const startLaying = writesBeside ? layingByThread({ ...storeOfThreads, onTrouble: layTrouble(log) }) : undefined;
  const fanOut = threads === undefined ? {} : { fanOut: { ...threads.fanOut, waitMs: sliceWaitMs(pace) } };
  const told = { store, sources, world, publisher, build, pace, observer, startLaying };
  const compileInTurn = createLeasedCompiler({ ...told, ...trouble, ...fanOut });
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
  const secrets = { ...read, operators: [...read.operators, ownSecret] };
  // The front beside it asks at its own address.
  const audiencesHere = () => (audiences.length === 0 ? [] : [...audiences, new URL(server.url).host]);
  const app = webhookApp({ store, recompile, sources, secrets, audiences: audiencesHere, onError: trouble.onError });
  const server = await listening(serveHttp(app, port, host), `${host}:${port}`, "set compile.webhook.port to another");
  const timer = setInterval(ask, everySeconds * 1000);
  return {
    url: server.url,
    ask,
    async close() {
      stop.abort();
      clearInterval(timer);
      await server.close();
      await last;
      await threads?.close();
    },
  };
}

/** Undefined where everything is compiled in this thread. */
function sliceThreadsFor(
  { workers, slices, memoryMib }: Slicing,
  store: Pick<SliceThreadsOptions, "where" | "s3Endpoint" | "build" | "onTrouble">,
): (Pick<SliceThreads, "close"> & { readonly fanOut: Omit<FanOut, "waitMs"> }) | undefined {
  if (slices === 1) return undefined;
  // This thread is one of them, unless slices are cut to fit into what a thread has.
  const compilesToo = slices === workers && memoryMib === undefined;
  const { dispatch, close } = createSliceThreads({ ...store, threads: compilesToo ? workers - 1 : workers, memoryMib });
  return { close, fanOut: { dispatch, most: slices, compilesToo, onTrouble: store.onTrouble } };
}

/** Those that are named, else those that the collectors fill. */
function sourcesOf({ compile = {}, collectors = [] }: Settings): readonly string[] {
  if (compile.sources !== undefined) return compile.sources;
  return collectors.length === 0 ? ["main"] : collectors.map(sourceOf);
}
