import { Registry } from "prom-client";
import { createCollector } from "../../collect/collector.ts";
import {
  createRegistrationWriter,
  type RegistrationWriterOptions,
} from "../../collect/registrations/registration-writer.ts";
import { createRootCertWriter, type RootCertOptions } from "../../collect/root-cert/root-cert-writer.ts";
import { createStatusWriter, type StatusWriterOptions } from "../../collect/status/status-writer.ts";
import { noObserver } from "../../compile/telemetry/observer.ts";
import { coalesce } from "../../compile/webhook/coalesce.ts";
import { serveHttp } from "../../front/node-server.ts";
import type { Origin } from "../../registry/origin/origin.ts";
import { defaultPace } from "../../registry/origin/retry.ts";
import { compileTelemetry } from "../compile-telemetry.ts";
import { openObjects } from "../config/opened-objects.ts";
import type { Terminal } from "../terminal.ts";
import type { LiveOptions } from "./collect-options.ts";
import { type CollectReport, collectReport } from "./collect-report.ts";
import { readinessApp } from "./readiness.ts";
import { processName } from "./shared-source.ts";

/** What is written back to an API server. */
export interface WritesTo {
  /** Where what compiles say of the objects is written, and the lease that says who writes it; absent: nowhere. */
  readonly statuses?: Pick<StatusWriterOptions, "client" | "lease"> | undefined;
  /** Where the roots of the CA are written; absent: nowhere. */
  readonly rootCert?: Pick<RootCertOptions, "client" | "roots"> | undefined;
  /** Where WorkloadEntries of machines are written that register themselves; absent: nowhere. */
  readonly registrations?: Pick<RegistrationWriterOptions, "client" | "store"> | undefined;
}

/**
 * Fills a source from an origin until somebody stops it, or once, and has it compiled after every push.
 *
 * @param what names the origin, for people
 */
export async function runCollector(
  origin: Origin,
  what: string,
  options: LiveOptions,
  terminal: Terminal,
  { statuses, rootCert, registrations }: WritesTo = {},
): Promise<void> {
  const { source, keyring, allowEmpty = false, takeOver = false, maxSize, port, host, staleAfter } = options;
  const report = collectReport(terminal, source, options.json === true);
  const stop = stopOnSignal();
  const registry = new Registry();
  const telemetry = options.compile ? await compileTelemetry(registry) : undefined;
  const observer = telemetry?.observer ?? noObserver;
  const place = await openObjects({ store: options.store, keyring, isNew: true, observer, warn: terminal.err });
  const compile = untilCompiled(place.compile, report, stop);
  const writer =
    statuses && createStatusWriter({ ...statuses, ...report.ofStatuses, read: (root) => place.statuses(source, root) });
  const rootCertWriter = rootCert && createRootCertWriter({ ...rootCert, ...report.ofRootCert });
  const registrationWriter = registrations && createRegistrationWriter({ ...registrations, ...report.ofRegistrations });
  let compiling = Promise.resolve();
  const collector = createCollector({
    store: place.objects,
    source,
    origin,
    allowEmpty,
    takeOver,
    mostSize: maxSize * 2 ** 20,
    storeRescues: place.isRemote,
    pushed(push) {
      report.pushed(push);
      observer.asked();
      if (options.compile && options.once !== true) compiling = compile().then(() => writer?.nudge());
    },
    filled: () => report.absent(origin.absent?.() ?? []),
    troubled: report.troubled,
    writer: processName(),
    shared: report.shared,
  });
  if (options.once === true) {
    await collector.once(stop);
    await rootCertWriter?.once();
    if (options.compile) report.compiled(await place.compile());
    await writer?.once();
    await registrationWriter?.once();
    await telemetry?.close();
    return;
  }
  const states = () => [collector.state()];
  const server =
    port === undefined
      ? undefined
      : await serveHttp(
          readinessApp({ states, statuses: writer?.state, staleAfter, now: Date.now, registry }),
          port,
          host,
        );
  if (server !== undefined) report.serving(server.url);
  report.following(what);
  try {
    const writers = [writer, rootCertWriter, registrationWriter];
    await Promise.all([collector, ...writers].map((one) => one?.run(stop)));
  } finally {
    await compiling;
    await server?.close();
    await telemetry?.close();
  }
}

/** A signal that comes with the process's own. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Compiles again and again until it has been done, with however many asks meanwhile as one more; never rejects. */
export function untilCompiled<T extends Parameters<CollectReport["compiled"]>[0]>(
  compile: () => Promise<T>,
  report: Pick<CollectReport, "compiled" | "failed">,
  signal: AbortSignal,
): () => Promise<void> {
  return coalesce(async () => {
    for (let failures = 1; ; failures += 1) {
      try {
        report.compiled(await compile());
        return;
      } catch (cause) {
        report.failed(cause);
      }
      await defaultPace.pause(defaultPace.backOff(failures), signal);
      if (signal.aborted) return;
    }
  });
}
