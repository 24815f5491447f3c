import cluster, { type Worker as ClusterWorker } from "node:cluster";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { lastAnswersMs } from "../node-server.ts";
import type { FromWorker, Line, ToWorker } from "./messages.ts";
import type { Primary } from "./primary.ts";

/** In the environment of a worker: which of them it is, from 0. One that dies is followed by another with its number. */
const slotVariable = "PORTOLAN_WORKER";

/** Which worker this process is; undefined for one that nobody started as such. */
export function workerSlot(): number | undefined {
  return cluster.isWorker && process.env[slotVariable] !== undefined ? Number(process.env[slotVariable]) : undefined;
}

/**
 * For Node, which else lets the space for what is young grow to three times as much: a process that holds 5,000 polls takes 80 MB less
 * so, and answers are made no slower. And a third of that space is cleared whenever it is full: the bytes of a poll of 77 KB lie outside
 * of it, and V8 goes over everything old whenever 64 MB of such are waiting to be let go, which doubles what a poll costs.
 */
export const workerArguments: readonly string[] = ["--max-semi-space-size=8", "--minor-gc-task-trigger=30"];

/** Whoever is gone hears nothing: its end is told otherwise. */
const gone = () => {};

/** The way to the process that started this one. */
export function lineToPrimary(): Line<FromWorker, ToWorker> {
  // The first process is gone, and this one goes with it.
  cluster.worker?.on("error", () => process.exit());
  return {
    send(message) {
      if (process.connected) process.send?.(JSON.stringify(message), gone);
    },
    listen(hear) {
      process.on("message", (text) => {
        const message: ToWorker = JSON.parse(String(text));
        hear(message);
      });
    },
  };
}

export interface WorkersOptions {
  readonly count: number;
  readonly primary: Primary;
  /** Told of each that ended by itself. */
  readonly onDeath: (what: string) => void;
}

export interface RunningWorkers {
  /** Of each server that all of them share. */
  readonly urls: readonly string[];
  /** Has them give their last answers, and resolves when they have ended. */
  close(): Promise<void>;
}

/** A worker that lives no longer is not replaced at once, and the next one later still. */
const briefMs = 10_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** How long to wait for workers beyond the time that they give their last answers. */
const graceMs = 3_000;

/**
 * Starts the program that this process runs as many times more, each as a worker on the same ports; what dies is replaced.
 *
 * @returns once all of them serve
 * @throws PortolanError with what the first of them says when it cannot serve
 */
export async function startWorkers({ count, primary, onDeath }: WorkersOptions): Promise<RunningWorkers> {
  const alive = new Set<ClusterWorker>();
  let isClosing = false;
  let pauseMs = firstPauseMs;

  function start(slot: number): Promise<readonly string[]> {
    cluster.setupPrimary({ execArgv: [...process.execArgv, ...workerArguments] });
    const worker = cluster.fork({ [slotVariable]: String(slot) });
    const startMs = performance.now();
    alive.add(worker);
    return new Promise((resolve, reject) => {
      let isServing = false;
      const leave = primary.join(lineTo(worker), {
        serving(urls) {
          isServing = true;
          resolve(urls);
        },
        failed: (reason) => reject(new PortolanError(reason)),
      });
      const ended = (reason: string) => {
        if (!alive.delete(worker)) return;
        leave();
        reject(new PortolanError(`a worker has ended before it served (${reason})`));
        if (isClosing) return;
        if (isServing || slot > 0) onDeath(`worker ${slot} has ended (${reason}); another takes its place`);
        if (isServing) replace(slot, performance.now() - startMs);
      };
      worker.once("exit", (code, signal) => ended(signal ?? String(code)));
      // A process that could not be started, as where the machine has no more of them, never exits.
      worker.on("error", (cause) => {
        if (worker.process.pid === undefined) ended(causeText(cause));
        else onDeath(`worker ${slot}: ${causeText(cause)}`);
      });
    });
  }

  function replace(slot: number, livedMs: number): void {
    pauseMs = livedMs < briefMs ? Math.min(pauseMs * 2, longestPauseMs) : firstPauseMs;
    const next = () => {
      if (isClosing) return;
      start(slot).catch((cause: unknown) => {
        onDeath(causeText(cause));
        replace(slot, 0);
      });
    };
    setTimeout(next, livedMs < briefMs ? pauseMs : 0);
  }

  async function close(): Promise<void> {
    isClosing = true;
    const ended = Promise.all([...alive].map((worker) => new Promise((resolve) => worker.once("exit", resolve))));
    primary.close();
    const deadline = setTimeout(() => {
      for (const worker of alive) worker.process.kill("SIGKILL");
    }, lastAnswersMs + graceMs);
    await ended;
    clearTimeout(deadline);
  }

  try {
    // One says whether the settings are right, and takes the ports that the others share.
    const urls = await start(0);
    await Promise.all(Array.from({ length: count - 1 }, (_, at) => start(at + 1)));
    return { urls, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

function lineTo(worker: ClusterWorker): Line<ToWorker, FromWorker> {
  return {
    send(message) {
      if (worker.isConnected()) worker.send(JSON.stringify(message), gone);
    },
    listen(hear) {
      worker.on("message", (text) => {
        const message: FromWorker = JSON.parse(String(text));
        hear(message);
      });
    },
  };
}
