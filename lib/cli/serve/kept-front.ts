import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { PortolanError } from "../../base/diagnostic.ts";
import type { Log } from "../../compile/telemetry/log.ts";
import { lastAnswersMs } from "../../front/node-server.ts";
import { defaultPace } from "../../registry/origin/retry.ts";
import { shippedProgram } from "../shipped.ts";
import { signEveryMs, watchSigns } from "./signs-of-life.ts";

/** What the front's process tells the one that started it, as JSON. */
export type FrontNews =
  | { readonly kind: "serving" }
  /** In answer to `askForSign`. */
  | { readonly kind: "alive" }
  | { readonly kind: "failed"; readonly reason: string };

/** The front beside what compiles: a process of its own, which no compile holds up. */
export interface KeptFront {
  /** Connections are taken: never, where it cannot serve at all. */
  readonly listening: Promise<void>;
  /** Rejects with a PortolanError when the front cannot serve; resolves when it was closed. */
  readonly ended: Promise<void>;
  /** Of its first process, while there is one. */
  pid(): number | undefined;
  /** Lets it answer what it holds, and resolves when it is gone. */
  close(): Promise<void>;
}

/** One that lives no longer is started again later each time. */
const briefMs = 5_000;

/** What only compiles need, and a front is not shown. */
const notForFronts: readonly string[] = [
  "PORTOLAN_SOURCE_SECRETS",
  "PORTOLAN_GITHUB_SECRETS",
  "PORTOLAN_GITLAB_SECRETS",
  "PORTOLAN_REPOSITORY_TOKENS",
  "PORTOLAN_FRONT_SECRET",
];

/**
 * Starts the front, and starts it again when it dies or hangs.
 *
 * @param env the server's environment variables, which the front gets
 * @param everyMs how often it is asked for a sign of life
 */
export function keepFront(env: NodeJS.ProcessEnv, log: Log, everyMs = signEveryMs): KeptFront {
  const program = shippedProgram("served-front", "the front's program");
  // Who moves HEAD signs it.
  const hidden = env.PORTOLAN_MOVES === "on" ? notForFronts : [...notForFronts, "PORTOLAN_SIGNING_KEY"];
  const shown = Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name)));
  let child: ChildProcess | undefined;
  let [hasServed, reason] = [false, ""];
  const stop = new AbortController();
  const first = Promise.withResolvers<void>();
  const hear = (text: unknown) => {
    const news: FrontNews = JSON.parse(String(text));
    if (news.kind === "failed") reason = news.reason;
    else if (news.kind === "serving") {
      hasServed = true;
      first.resolve();
    }
  };

  /** @returns how it ended: an exit code, or the signal that somebody sent it */
  async function run(): Promise<number | string> {
    // In a group of its own: Ctrl-C is for this process, which asks it to end.
    const started = spawn(process.execPath, [...process.execArgv, program], {
      env: shown,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
    });
    child = started;
    reason = "";
    started.on("message", hear);
    const endSigns = watchSigns(
      started,
      (silentMs) => {
        log.error({ pid: started.pid, silentMs }, "the front does not respond and is stopped");
        // What is stopped obeys no other signal.
        started.kill("SIGKILL");
      },
      everyMs,
    );
    stop.signal.addEventListener("abort", endSigns);
    const [code, signal] = await once(started, "exit");
    child = undefined;
    stop.signal.removeEventListener("abort", endSigns);
    return signal ?? code;
  }

  async function keepRunning(): Promise<void> {
    let failures = 0;
    for (;;) {
      const startMs = performance.now();
      const end = await run();
      if (stop.signal.aborted) return;
      const isBrief = performance.now() - startMs < briefMs;
      if (!hasServed && typeof end === "number")
        throw new PortolanError(reason || "the front cannot serve; see its messages above");
      failures = isBrief ? failures + 1 : 1;
      log.error({ end, ...(reason === "" ? {} : { reason }) }, "the front has exited and is restarted");
      await defaultPace.pause(defaultPace.backOff(failures), stop.signal);
      if (stop.signal.aborted) return;
    }
  }

  const ended = keepRunning();
  return {
    listening: first.promise,
    ended,
    pid: () => child?.pid,
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
