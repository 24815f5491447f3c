import { type ChildProcess, spawn } from "node:child_process";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { Attempt, AttemptOutcome } from "../../compile/isolation/isolated-compile.ts";
import type { CompileObserver, CompileWatch } from "../../compile/telemetry/observer.ts";
import type { Publication } from "../dev/dev-report.ts";
import type { DevSettings } from "../dev/dev-settings.ts";
import { shippedProgram } from "../shipped.ts";
import { type CompileNews, type CompileRequest, errorOf } from "./compile-messages.ts";

/** A process that compiles, so that one that runs out of memory or time costs nothing else. */
export interface CompileProcess {
  /** Starts the process, where none runs, so that the first compile need not wait for it. */
  start(): void;
  /** Compiles once, in the process of before or in a new one. One attempt at a time. */
  attempt(attempt: Attempt): Promise<AttemptOutcome>;
  close(): void;
}

export interface CompileProcessOptions {
  /** The store, as `openStore` takes it. */
  readonly where: string;
  readonly s3Endpoint?: string | undefined;
  readonly sources: readonly string[];
  /** Variables as `compileSettingsFrom` takes them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As the message `start` has it. */
  readonly dev?: DevSettings;
  /** Is given what `portolan dev` reports of a compile, before its outcome. */
  readonly onPublication?: (publication: Publication) => void;
  readonly observer: CompileObserver;
  readonly onTrouble: (trouble: Extract<CompileNews, { readonly kind: "trouble" }>) => void;
}

/** @throws PortolanError where the program of the process was not installed */
export function createCompileProcess(options: CompileProcessOptions): CompileProcess {
  const { where, s3Endpoint, sources, env, dev } = options;
  const program = shippedProgram("served-compile", "the program of the compile process");
  let current: ChildProcess | undefined;
  let isClosed = false;

  const start = (): ChildProcess => {
    // In a group of its own: Ctrl-C is for this process, which finishes what is under way.
    const child = spawn(process.execPath, [...process.execArgv, program], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
    });
    const over = () => {
      if (current === child) current = undefined;
    };
    child.once("exit", over);
    child.once("error", over);
    send(child, { kind: "start", where, s3Endpoint, sources, env, dev });
    current = child;
    return child;
  };

  return {
    start() {
      if (current === undefined) start();
    },
    async attempt(attempt) {
      const outcome = await compileIn(current ?? start(), attempt, options);
      // The next compile is to find a process that has started: its time is short.
      if (outcome.kind === "ended" && current === undefined && !isClosed) start();
      return outcome;
    },
    close() {
      isClosed = true;
      current?.kill("SIGTERM");
    },
  };
}

/** A message to a process that has just ended is lost: its exit is what counts. */
const send = (child: ChildProcess, request: CompileRequest): void => {
  if (child.connected) child.send(JSON.stringify(request), () => {});
};

async function compileIn(
  child: ChildProcess,
  { publishing, mayPublish, held, signal }: Attempt,
  { observer, onTrouble, onPublication = () => {} }: CompileProcessOptions,
): Promise<AttemptOutcome> {
  const outcome = Promise.withResolvers<AttemptOutcome>();
  const watched = watching(observer);
  const hear = (text: unknown): void => {
    const news: CompileNews = JSON.parse(String(text));
    switch (news.kind) {
      case "answer":
        if (news.publication !== undefined) onPublication(news.publication);
        outcome.resolve({ kind: "compiled", told: news.told });
        break;
      case "refusal":
        outcome.reject(errorOf(news.failure));
        break;
      case "may-publish":
        mayPublish().then(
          () => send(child, { kind: "publish" }),
          (cause: unknown) => send(child, { kind: "publish", refused: causeText(cause) }),
        );
        break;
      case "trouble":
        onTrouble(news);
        break;
      default:
        watched.hear(news);
    }
  };
  const onExit = (code: number | null, by: NodeJS.Signals | null): void => {
    const reason = signal.aborted ? "it took too long" : endText(code, by);
    watched.ended(reason);
    outcome.resolve({ kind: "ended", reason });
  };
  const onError = (cause: Error): void =>
    outcome.reject(new PortolanError(`the compile process cannot be started: ${cause.message}`, [], cause));
  // A busy process answers no message: it is ended from outside.
  const onLate = (): void => {
    child.kill("SIGKILL");
  };
  child.on("message", hear);
  child.once("exit", onExit);
  child.once("error", onError);
  signal.addEventListener("abort", onLate, { once: true });
  send(child, { kind: "compile", publishing, held: Array.from(held, ([name, version]) => ({ name, version })) });
  if (signal.aborted) onLate();
  if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
  try {
    return await outcome.promise;
  } finally {
    child.off("message", hear);
    child.off("exit", onExit);
    child.off("error", onError);
    signal.removeEventListener("abort", onLate);
  }
}

/** Node aborts when its heap is full, and a kernel without memory kills. */
function endText(code: number | null, by: NodeJS.Signals | null): string {
  if (by === "SIGABRT" || code === 134) return "most likely out of memory";
  if (by === "SIGKILL") return "killed, most likely out of memory";
  return by === null ? `it ended with exit code ${code}` : `it ended by ${by}`;
}

/** Hands an observer what another process says of its compile. */
function watching(observer: CompileObserver) {
  let watch: CompileWatch | undefined;
  const stages = new Map<number, () => void>();
  const over = (end: (watch: CompileWatch) => void): void => {
    if (watch !== undefined) end(watch);
    watch = undefined;
    stages.clear();
  };
  return {
    hear(news: CompileNews): void {
      switch (news.kind) {
        case "began":
          watch = observer.begin();
          break;
        case "stage":
          if (watch !== undefined) stages.set(news.id, watch.stage(news.name));
          break;
        case "stage-ended":
          stages.get(news.id)?.();
          break;
        case "done":
          over((of) => of.done(news.report));
          break;
        case "failed":
          over((of) => of.failed(errorOf(news.failure)));
          break;
        default:
      }
    },
    /** The process has ended in the midst of a compile. */
    ended(reason: string): void {
      over((of) => of.failed(new PortolanError(`the compile process ended: ${reason}`)));
    },
  };
}
