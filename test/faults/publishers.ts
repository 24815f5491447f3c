import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Recompiled } from "../../lib/compile/recompile/recompiled.ts";
import type { Place } from "./place.ts";

/** What a publisher's process says. */
export type Answer =
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: Recompiled["kind"];
      /** Of the text that its source was filled with before. */
      readonly number: number;
      readonly generation: number;
      readonly root: string;
    };

export interface Acknowledged extends Exclude<Answer, { readonly kind: "failed" }> {
  readonly source: string;
}

export interface Publishers {
  /** Everything that was ever acknowledged. */
  readonly acknowledged: readonly Acknowledged[];
  /** How many attempts failed with a reason. */
  failed(): number;
  /** Processes that ended by themselves, with what they wrote. */
  readonly deaths: readonly string[];
  /** Kills one in the middle of its work, and starts it anew with a clock that is so far ahead. */
  kill(index: number, afterMs: number, aheadMs: number): Promise<void>;
  killAll(): Promise<void>;
  startAll(): void;
  /** Stops them where they are, as a machine does that swaps. */
  stop(): void;
  goOn(): void;
}

const script = new URL("publisher-process.ts", import.meta.url).pathname;
/** How long one may take until it has published once: the machine may be busy. */
const patienceMs = 30_000;

interface Running {
  readonly child: ChildProcess;
  readonly exit: Promise<void>;
  readonly answered: Promise<void>;
}

/** Processes that publish without end, each into a source of its own. */
export function startPublishers(place: Place, sources: readonly string[]): Publishers {
  const acknowledged: Acknowledged[] = [];
  const deaths: string[] = [];
  const running = new Map<string, Running>();
  let failed = 0;
  let starts = 0;

  function start(source: string, aheadMs: number): void {
    starts += 1;
    const args = [script, source, String(starts * 10_000), String(aheadMs), ...place.args];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...place.env } });
    let errors = "";
    child.stderr.on("data", (data) => {
      errors += data;
    });
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    createInterface(child.stdout).on("line", (line) => {
      const said = readAnswer(line);
      if (said?.kind === "failed") failed += 1;
      else if (said !== undefined) acknowledged.push({ ...said, source });
      answer();
    });
    const exit = new Promise<void>((resolve) => {
      child.once("exit", (code, signal) => {
        if (signal !== "SIGKILL") deaths.push(`${source} ended with ${code ?? signal}: ${errors.slice(0, 2_000)}`);
        answer();
        resolve();
      });
    });
    running.set(source, { child, exit, answered });
  }

  async function end(source: string): Promise<void> {
    const one = running.get(source);
    running.delete(source);
    one?.child.kill("SIGKILL");
    await one?.exit;
  }

  const signal = (name: "SIGSTOP" | "SIGCONT") => {
    for (const { child } of running.values()) child.kill(name);
  };
  const startAll = () => {
    for (const source of sources) if (!running.has(source)) start(source, 0);
  };
  startAll();
  return {
    acknowledged,
    deaths,
    failed: () => failed,
    startAll,
    async kill(index, afterMs, aheadMs) {
      const source = sources[index % sources.length] ?? "";
      await Promise.race([running.get(source)?.answered, sleep(patienceMs)]);
      await sleep(afterMs);
      await end(source);
      start(source, aheadMs);
    },
    killAll: async () => {
      await Promise.all(sources.map(end));
    },
    stop: () => signal("SIGSTOP"),
    goOn: () => signal("SIGCONT"),
  };
}

/** @returns undefined for a line that was cut off with its process */
function readAnswer(line: string): Answer | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
