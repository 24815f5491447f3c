import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Log } from "../../compile/telemetry/log.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { lastAnswersMs } from "../../front/node-server.ts";
import { defaultPace } from "../../registry/retry.ts";
import { shipped } from "../shipped.ts";

/** The front beside what compiles: a process of its own, which no compile holds up. */
export interface KeptFront {
  /** Rejects with a PortolanError when the front cannot serve; resolves when it was closed. */
  readonly ended: Promise<void>;
  /** Lets it answer what it holds, and resolves when it is gone. */
  close(): Promise<void>;
}

/** One that lives no longer could not serve at all. */
const briefMs = 5_000;

/** What only compiles need, and a front is not shown. */
const notForFronts: readonly string[] = [
  "PORTOLAN_SOURCE_SECRETS",
  "PORTOLAN_GITHUB_SECRETS",
  "PORTOLAN_GITLAB_SECRETS",
];

/**
 * Starts the front, and starts it again when it dies.
 *
 * @param env what it is told: the server's variables
 */
export function keepFront(env: NodeJS.ProcessEnv, log: Log): KeptFront {
  const program = shipped("functions/served-front.node.ts") ?? shipped("dist/package/served-front.js");
  if (program === undefined) throw new PortolanError("the front's program is not where this one was installed");
  // Who moves HEAD signs it.
  const hidden = env.PORTOLAN_MOVES === "on" ? notForFronts : [...notForFronts, "PORTOLAN_SIGNING_KEY"];
  const shown = Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name)));
  let child: ChildProcess | undefined;
  const stop = new AbortController();

  /** @returns how it ended: an exit code, or the signal that somebody sent it */
  async function run(): Promise<number | string> {
    // In a group of its own: Ctrl-C is for this process, which asks it to end.
    const started = spawn(process.execPath, [...process.execArgv, program ?? ""], {
      env: shown,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
    });
    child = started;
    const [code, signal] = await once(started, "exit");
    child = undefined;
    return signal ?? code;
  }

  async function keepRunning(): Promise<void> {
    let failures = 0;
    for (let isFirst = true; ; isFirst = false) {
      const startMs = performance.now();
      const end = await run();
      if (stop.signal.aborted) return;
      const isBrief = performance.now() - startMs < briefMs;
      if (isFirst && isBrief && typeof end === "number")
        throw new PortolanError("the front cannot serve; what it says stands above");
      failures = isBrief ? failures + 1 : 1;
      log.error({ end }, "the front has ended; another one is started");
      await defaultPace.pause(defaultPace.backOff(failures), stop.signal);
      if (stop.signal.aborted) return;
    }
  }

  const ended = keepRunning();
  return {
    ended,
    async close() {
      stop.abort();
      const ending = child;
      ending?.kill("SIGTERM");
      const timer = setTimeout(() => ending?.kill("SIGKILL"), 2 * lastAnswersMs);
      await ended.catch(() => {});
      clearTimeout(timer);
    },
  };
}
