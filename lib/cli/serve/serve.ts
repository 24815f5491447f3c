import { randomUUID } from "node:crypto";
import { Option } from "commander";
import pino from "pino";
import { Registry } from "prom-client";
import { PortolanError } from "../../base/diagnostic.ts";
import { logObserver } from "../../compile/telemetry/log.ts";
import { observers } from "../../compile/telemetry/observer.ts";
import { stopped } from "../../config-store/stopped.ts";
import { settingText } from "../../front/auth/setting-file.ts";
import { listening, serveHttp } from "../../front/node-server.ts";
import { lookupReports } from "../../resolve/lookup-reports.ts";
import { environmentOf, overEnvironment, withFiles } from "../../settings/environment.ts";
import { inFieldNames } from "../../settings/field-names.ts";
import type { Settings } from "../../settings/schema.ts";
import { readHead } from "../../snapshot/head/head.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openStore } from "../../storage/open-store.ts";
import { readinessApp } from "../collect/readiness.ts";
import { stopOnSignal } from "../collect/run-collector.ts";
import { compileTelemetry } from "../compile-telemetry.ts";
import { examplesText } from "../examples.ts";
import type { Register } from "../terminal.ts";
import { startAdmission } from "./admission-server.ts";
import { startCompileFunction } from "./compile-function.ts";
import { type Followed, followOrigin } from "./follow-origins.ts";
import { type KeptFront, keepFront } from "./kept-front.ts";
import { type Part, parts } from "./rule.ts";
import { needServable, settingsIn } from "./settings-file.ts";

interface Options {
  readonly settings?: string;
  readonly only?: readonly Part[];
}

/** Where snapshots lie if nobody says it. */
const usualStore = ".portolan/store";
const usualStaleSeconds = 60;

/** `portolan serve`: the front, the compile function and the collectors of a settings file. */
export const registerServe: Register = (program) => {
  program
    .command("serve")
    .description(
      "Runs the front, compiler (`compile`), admission webhooks (`admission`) and collectors of a settings file; logs JSON lines.",
    )
    .addOption(
      new Option("--settings <file>", "the settings file (default: only environment variables)").env(
        "PORTOLAN_SETTINGS",
      ),
    )
    .addOption(new Option("--only <parts...>", "run only these parts").choices(parts))
    .addHelpText(
      "after",
      examplesText([
        "serve --settings portolan.yaml",
        "serve --settings portolan.yaml --only front",
        "serve --settings portolan.yaml --only compile collectors",
      ]),
    )
    .action(async ({ settings, only = parts }: Options) => {
      const written = settings === undefined ? {} : await settingsIn(settings);
      const all = withFiles(overEnvironment(written, process.env), settingText);
      const wanted = new Set(only);
      await (settings === undefined ? serve(all, wanted) : serveFile(settings, all, wanted));
    });
};

/** What is wrong with a file is said in the words of its fields. */
async function serveFile(file: string, settings: Settings, wanted: ReadonlySet<Part>): Promise<void> {
  await needServable(file, settings, wanted);
  try {
    await serve(settings, wanted);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    throw new PortolanError(inFieldNames(cause.message), cause.diagnostics, cause);
  }
}

async function serve(settings: Settings, wanted: ReadonlySet<Part>): Promise<void> {
  const log = pino();
  const { store: where = usualStore, health = {}, collectors = [] } = settings;
  // What reads the environment by itself (kubeconfigs, Consul's variables, OpenTelemetry's) reads the file that way.
  Object.assign(process.env, environmentOf({ ...settings, store: where }));
  const stop = stopOnSignal();
  const ended = new AbortController();
  const signal = AbortSignal.any([stop, ended.signal]);
  const registry = new Registry();
  const telemetry = await compileTelemetry(registry);
  const store = await openStore(where, { s3Endpoint: settings.s3Endpoint });
  const closing: (() => Promise<void>)[] = [telemetry.close];
  const following = wanted.has("collectors") ? collectors : [];
  const compiles = wanted.has("compile") && settings.compile !== undefined;
  let followed: readonly Followed[] | undefined;
  let isServing = !wanted.has("front");
  const isPublished = createPublishedCheck(store);
  // With a source that only webhooks fill nothing is published before a sender finds a process that is ready.
  const needsSender = compiles && following.length === 0;
  const awaitsPublish = (compiles || wanted.has("front")) && !needsSender;
  const awaited = async () => [
    ...(isServing ? [] : ["the front"]),
    ...(followed === undefined ? ["the collectors"] : []),
    ...(awaitsPublish && !(await isPublished()) ? ["a first publish"] : []),
  ];
  try {
    // Everything listens before anything is collected or published: a port that is taken ends it with nothing done.
    const { host = "127.0.0.1", port, staleAfterSeconds: staleAfter = usualStaleSeconds } = health;
    if (port !== undefined) {
      const states = () => (followed ?? []).map((one) => one.state());
      const lookups = compiles ? () => lookupReports(store) : undefined;
      const app = readinessApp({ states, staleAfter, now: Date.now, awaited, lookups, registry });
      const server = await listening(serveHttp(app, port, host), `${host}:${port}`, "set health.port to another");
      closing.unshift(server.close);
      log.info({ url: server.url }, "health endpoint");
    }

    const ownSecret = randomUUID();
    const observer = observers([logObserver(log), telemetry.observer]);
    const compile = compiles
      ? await startCompileFunction({ store, where, settings, ownSecret, log, observer })
      : undefined;
    if (compile !== undefined) {
      closing.unshift(compile.close);
      log.info({ url: compile.url }, "compiling");
    }

    if (wanted.has("admission") && settings.admission !== undefined) {
      const admission = await startAdmission({ store, settings, log });
      closing.unshift(admission.close);
      log.info({ url: admission.url }, "admission webhooks");
    }

    const front = wanted.has("front") ? keepFront(frontEnvironment(compile?.url, ownSecret), log) : undefined;
    if (front !== undefined) {
      closing.unshift(front.close);
      await Promise.race([front.listening, front.ended, stopped(stop)]);
      isServing = true;
    }

    const changed = () => compile?.ask();
    const started = stop.aborted
      ? []
      : await Promise.all(following.map((one) => followOrigin(one, { store, log, changed, signal })));
    followed = started;
    closing.unshift(async () => {
      await Promise.all(started.map((one) => one.ended));
    });
    if (!stop.aborted) compile?.ask();
    await Promise.race([stopped(stop), failureOf(front)]);
    log.info("ending");
  } finally {
    ended.abort();
    // All at once: polls that are held are let go while a compile that is under way is finished.
    await Promise.all(closing.map((close) => close()));
  }
}

/** Whether anything was ever published: once it was, that is remembered. */
function createPublishedCheck(store: ObjectStore): () => Promise<boolean> {
  let isPublished = false;
  return async () => {
    isPublished ||= await readHead(store).then(
      (read) => read !== undefined,
      () => false,
    );
    return isPublished;
  };
}

/**
 * A front beside a compile function asks that one for classes that nodes want. The operators' secret, which may fill every source, is
 * kept from a front that has one for asking.
 */
function frontEnvironment(compileUrl: string | undefined, secret: string): NodeJS.ProcessEnv {
  const { PORTOLAN_COMPILE_URL = "", PORTOLAN_WEBHOOK_SECRET, ...env } = process.env;
  if (PORTOLAN_COMPILE_URL !== "") {
    const hasOwn = (env.PORTOLAN_COMPILE_SECRET ?? "") !== "" || PORTOLAN_WEBHOOK_SECRET === undefined;
    return { ...env, PORTOLAN_COMPILE_URL, ...(hasOwn ? {} : { PORTOLAN_WEBHOOK_SECRET }) };
  }
  return compileUrl === undefined ? env : { ...env, PORTOLAN_COMPILE_URL: compileUrl, PORTOLAN_COMPILE_SECRET: secret };
}

/** Never resolves where nothing can fail. */
const failureOf = (front: KeptFront | undefined): Promise<void> => front?.ended ?? new Promise(() => {});
