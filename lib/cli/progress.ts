import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { type CompileObserver, noObserver, stageNames } from "../compile/telemetry/observer.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** Shows people that a command that says nothing is at work, and how far it is. */
export interface Progress {
  /** To be called before the command says something: what is shown goes away. */
  speaks(): void;
  /** The same store; what is read and written is counted. */
  counting(store: ObjectStore): ObjectStore;
  /** To be told of compiles. */
  readonly observer: CompileObserver;
  /** To be called when the command is done. */
  end(): void;
}

/** For whoever is no person, or does not wait. */
export const noProgress: Progress = { speaks() {}, counting: (store) => store, observer: noObserver, end() {} };

/** Whoever waits longer wants to see that something happens. */
const quietMs = 1_000;
const frameMs = 120;
/** Where no line can be written over: one more for each of these. */
const againMs = 10_000;

/** They go on until somebody ends them, and say what there is to say. */
const endless: ReadonlySet<string> = new Set(["dev", "serve", "agent", "collect"]);

/** What the thread beside the program sees: numbers, since the program has no moment to send it anything. */
const cells = ["over", "lock", "isShown", "spoken", "read", "written", "stage"] as const;
const at = (name: (typeof cells)[number]): number => cells.indexOf(name);

/** Runs beside the program, since a compile leaves it no moment to speak. */
const shower = `
const { workerData: { shared, cells, name, stages, isDumb, quietMs, frameMs, againMs } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const [OVER, LOCK, SHOWN, SPOKEN, READ, WRITTEN, STAGE] = cells.map((_, at) => at);
const load = (at) => Atomics.load(shared, at);
const begun = Date.now();
const counted = (count) => count === 1 ? "1 object" : count.toLocaleString("en") + " objects";
const text = (frame) => {
  const [stage, read, written] = [stages[load(STAGE) - 1], load(READ), load(WRITTEN)];
  const seconds = Math.round((Date.now() - begun) / 1000);
  const parts = [
    ...(stage === undefined ? [] : [stage]),
    ...(read === 0 ? [] : [counted(read) + " read"]),
    ...(written === 0 ? [] : [counted(written) + " written"]),
    seconds + " s",
  ];
  const wheel = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[frame % 10];
  return isDumb ? name + " is under way: " + parts.join(", ") + "\\n" : "\\r\\u001b[K" + wheel + " " + name + ": " + parts.join(", ");
};
const show = (frame) => {
  if (Atomics.compareExchange(shared, LOCK, 0, 1) !== 0) return;
  if (load(OVER) === 0) {
    writeSync(2, text(frame));
    Atomics.store(shared, SHOWN, isDumb ? 0 : 1);
  }
  Atomics.store(shared, LOCK, 0);
  Atomics.notify(shared, LOCK);
};
for (let spoken = load(SPOKEN); load(OVER) === 0; spoken = load(SPOKEN)) {
  let waitMs = quietMs;
  for (let frame = 0; Atomics.wait(shared, SPOKEN, spoken, waitMs) === "timed-out"; frame += 1) {
    show(frame);
    waitMs = isDumb ? againMs : frameMs;
  }
}`;

/**
 * A line at the foot of a terminal, once a command has said nothing for a second: what it does, what it has read and written, for how
 * long. Only for people: not into a pipe, not in CI, and not beside JSON.
 *
 * @param argv as `process.argv`
 * @param isTerminal whether standard error is one
 */
export function processProgress(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): Progress {
  const [command = "", ...options] = argv.slice(2);
  const isAsked = command !== "" && !command.startsWith("-") && !wantsJson(options);
  if (!isTerminal || !isAsked || (env.CI ?? "") !== "") return noProgress;
  const shared = new Int32Array(new SharedArrayBuffer(4 * cells.length));
  const isDumb = env.TERM === "dumb";
  const name = `portolan ${command}`;
  const workerData = { shared, cells, name, stages: stageNames, isDumb, quietMs, frameMs, againMs };
  new Worker(shower, { eval: true, workerData, execArgv: [] }).unref();
  const isEndless = endless.has(command) || options.some((option) => /^--every(?:=|$)/.test(option));

  function clear(isOver: boolean): void {
    while (Atomics.compareExchange(shared, at("lock"), 0, 1) !== 0) Atomics.wait(shared, at("lock"), 1, quietMs);
    if (Atomics.exchange(shared, at("isShown"), 0) === 1) writeSync(2, "\r\u001b[K");
    if (isOver) Atomics.store(shared, at("over"), 1);
    Atomics.add(shared, at("spoken"), 1);
    Atomics.notify(shared, at("spoken"));
    Atomics.store(shared, at("lock"), 0);
  }
  const count = (cell: "read" | "written"): void => void Atomics.add(shared, at(cell), 1);
  // Whatever ends the process, its last line is a whole one.
  process.once("exit", () => clear(true));
  return {
    speaks: () => clear(isEndless),
    end: () => clear(true),
    counting: (store) => ({
      ...store,
      get(key, condition) {
        count("read");
        return store.get(key, condition);
      },
      put(key, bytes, condition) {
        count("written");
        return store.put(key, bytes, condition);
      },
      folders(prefix) {
        count("read");
        return store.folders(prefix);
      },
      async *list(prefix, after) {
        for await (const one of store.list(prefix, after)) {
          count("read");
          yield one;
        }
      },
    }),
    observer: {
      asked() {},
      begin: () => ({
        stage(name) {
          Atomics.store(shared, at("stage"), stageNames.indexOf(name) + 1);
          return () => void Atomics.store(shared, at("stage"), 0);
        },
        done() {},
        failed() {},
      }),
    },
  };
}

const wantsJson = (options: readonly string[]): boolean =>
  options.some(
    (option, i) =>
      /^(?:--json|-o=?json|--output=json)$/.test(option) ||
      (option === "json" && /^(?:-o|--output)$/.test(options[i - 1] ?? "")),
  );
