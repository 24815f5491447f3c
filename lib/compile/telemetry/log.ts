import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import { isSecurityFailure } from "../../config/fail-closed/closed-object.ts";
import { type Served, servedInstead, servedText } from "../../snapshot/nodes/refusals.ts";
import { NothingFilled } from "../world/nothing-filled.ts";
import type { CompileObserver } from "./observer.ts";
import { type CompileTimes, stopwatch } from "./stopwatch.ts";

/** One line for each call: pino, or what stands for it where there is none. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** JSON lines in the form that pino gives them, for a platform whose console is its log. */
export const consoleLog = (write: (line: string) => void, now: () => number = Date.now): Log => {
  const line = (level: number) => (fields: object, msg: string) =>
    write(JSON.stringify({ level, time: now(), ...fields, msg }));
  return { info: line(30), warn: line(40), error: line(50) };
};

/** A line for each compile, with where its time went; one with the reason for each that failed. That there is nothing to compile yet is said once. */
export function logObserver(log: Log, now?: () => number): CompileObserver {
  let isEmpty = false;
  return stopwatch(
    {
      done(report, times) {
        isEmpty = false;
        log.info({ ...report, ...timesOf(times) }, `compiled: ${report.kind}`);
        if (report.missed !== undefined)
          log.warn({ reason: report.missed }, "everything was compiled: nothing of the newest publish could be reused");
      },
      failed(cause, times) {
        const wasEmpty = isEmpty;
        isEmpty = cause instanceof NothingFilled;
        if (!isEmpty) log.error({ ...reasonOf(cause), ...timesOf(times) }, "the compile failed; HEAD is as it was");
        else if (!wasEmpty)
          log.info(reasonOf(cause), "nothing to compile: `portolan push`, `apply` or a collector fills one");
      },
    },
    now,
  );
}

const timesOf = ({ stageMs, durationMs, queueMs }: CompileTimes) => ({
  durationMs: Math.round(durationMs),
  queueMs: Math.round(queueMs),
  stageMs: Object.fromEntries([...stageMs].map(([name, ms]) => [name, Math.round(ms)])),
});

/** What goes wrong beside compiles: requests that fail, leases that cannot be given back, processes that died with one. */
export const troubleLog = (log: Log) => ({
  onError: (cause: unknown) => log.error(reasonOf(cause), "failed"),
  onTakenOver: (dead: { readonly holder: string; readonly silentMs: number }) =>
    log.warn(dead, "took over the lease of a compile that gave no sign of life"),
});

/** What goes wrong with slices and is mended by whoever hands them out. */
export const sliceTrouble = (log: Log) => (reason: string) => log.warn({ reason }, "a slice is compiled again");

/** The same of all that a compile can do without. */
export const compileTrouble = (log: Log) => ({
  slice: sliceTrouble(log),
  prewrite: (reason: string) => log.warn({ reason }, "what was made is written when it is published"),
  analysis: (reason: string) => log.warn({ reason }, "the messages of the analysers were not recorded"),
});

/** Why something failed; of an error of our own with its trace. */
function reasonOf(cause: unknown): object {
  if (cause instanceof PortolanError) {
    const first = cause.diagnostics[0];
    const { code, message, origin } = first ?? {};
    const about =
      first === undefined ? {} : { diagnostics: cause.diagnostics.length, first: { code, message, origin } };
    return { reason: cause.message, ...about };
  }
  return { reason: String(cause), ...(cause instanceof Error ? { stack: cause.stack } : {}) };
}

/** Warns of each source that a compile found stale: where nobody reads its answer, that a collector has died is the operator's to see. */
export function logStaleSources(log: Log, diagnostics: readonly Diagnostic[]): void {
  for (const stale of diagnostics.filter(({ code }) => code === "registry-stale")) log.warn(stale, "a source is stale");
}

/** So many errors of one compile have a line each. */
const maxErrors = 20;

function textOf(one: Diagnostic, served: Served | undefined): string {
  if (one.code === "source-held") return "a source is held back";
  if (isSecurityFailure(one) || served === undefined) return "no valid form is known";
  return `refused; ${servedText(served, one)}`;
}

/**
 * Warns of each object that compiles refuse, with what is served in its place, of what is closed or open because of it, and of
 * sources that are held back, once for as long as it is so. On a server that compiles by itself the log is the only place that
 * shows the file and the line.
 *
 * @returns takes the diagnostics of each compile
 */
export function errorLog(log: Log): (diagnostics: readonly Diagnostic[]) => void {
  let told: ReadonlySet<string> = new Set();
  return (diagnostics) => {
    const errors = diagnostics.filter((one) => one.severity === "error" || isSecurityFailure(one));
    const servedFor = servedInstead(diagnostics);
    const byText = new Map(
      errors.map((error) => {
        const text = textOf(error, servedFor(error));
        return [text + JSON.stringify(error), { error, text }];
      }),
    );
    const fresh = [...byText].filter(([text]) => !told.has(text));
    for (const [, { error, text }] of fresh.slice(0, maxErrors)) log.warn(error, text);
    if (fresh.length > maxErrors)
      log.warn({ more: fresh.length - maxErrors }, "more is refused; `portolan validate` lists all of a folder");
    told = new Set(byText.keys());
  };
}
