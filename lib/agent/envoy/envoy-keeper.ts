import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PortolanError } from "../../base/diagnostic.ts";
import { replaceFile } from "../files/replace-file.ts";
import { end } from "./drain.ts";
import type { EnvoyArgument } from "./envoy-arguments.ts";
import { adoptEnvoy, bootstrapComplaint, type EnvoyOptions, type EnvoyProcess, startEnvoy } from "./envoy-process.ts";
import { createRestarts } from "./restarts.ts";

/** Keeps an Envoy running: starts it, takes over one that runs already, and starts it again, after a pause, when it has ended. */
export interface EnvoyKeeper {
  current(): EnvoyProcess | undefined;
  /** Whether one may be started now. */
  mayStart(): boolean;
  /** When the next one may be started, on the clock of `performance.now`; undefined while one runs. */
  startsAtMs(): number | undefined;
  /** @throws PortolanError when there is no such program, it refuses its arguments, or its bootstrap and there is none before it */
  start(): Promise<void>;
  /** Exit code of the agent, when Envoy has ended too often. */
  gaveUp(): number | undefined;
  starts(): number;
  /** Nothing is said any more when it ends. */
  release(): void;
}

export interface EnvoyKeeperOptions extends EnvoyOptions {
  /** So many ends in a row are the last; undefined: none are. */
  readonly maxRestarts: number | undefined;
  readonly say: (line: string) => void;
  /** Told when it may be started again, and when one runs. */
  readonly onChange: () => void;
  /** Told when it has ended. */
  readonly onEnd: () => void;
  /** Where the agent answers its Envoy: one that runs already and asks elsewhere is ended. */
  readonly socket: string;
}

/** Name of the bootstrap in the agent's folder, and in `good/` of the last one that an Envoy was started with. */
export const bootstrapName = "envoy.json";

const usualArguments: readonly EnvoyArgument[] = [
  ["--disable-hot-restart"],
  ["--drain-time-s", "45"],
  ["--drain-strategy", "immediate"],
  ["--file-flush-interval-msec", "1000"],
  ["--reject-unknown-dynamic-fields"],
  ["-l", "warning"],
];

export async function createEnvoyKeeper(options: EnvoyKeeperOptions): Promise<EnvoyKeeper> {
  const { folder, maxRestarts, say, onChange, onEnd, socket } = options;
  const bootstrap = join(folder, bootstrapName);
  const goodBootstrap = join(folder, "good", bootstrapName);
  const restarts = createRestarts();
  let envoy: EnvoyProcess | undefined;
  let startedMs = performance.now();
  let notBeforeMs = 0;
  let exitCode: number | undefined;
  let starts = 0;
  let isReleased = false;

  function watch(process: EnvoyProcess): void {
    envoy = process;
    startedMs = performance.now();
    process.ended.then(async (how) => {
      await process.log.read();
      envoy = undefined;
      if (isReleased) return;
      const { pauseMs, inARow } = restarts.ended(performance.now() - startedMs);
      notBeforeMs = performance.now() + pauseMs;
      const said = process.log.lastError();
      const last = said === undefined ? "" : `; its last output: ${oneLine(said)}${hintFor(said)}`;
      const loop = inARow < 3 ? "" : `, ${inARow} times in a row soon after its start`;
      if (maxRestarts !== undefined && inARow > maxRestarts) {
        exitCode = codeOf(how);
        say(`Envoy ended (${how})${loop}${last}; that was once too often`);
      } else {
        say(`Envoy ended (${how})${loop}${last}; it is started again in ${pauseMs / 1_000} s`);
        setTimeout(onChange, pauseMs);
      }
      onEnd();
      onChange();
    });
  }

  /** The bootstrap to start with: the new one, or the last one that was taken. */
  async function usableBootstrap(): Promise<string> {
    const complaint = await bootstrapComplaint(options, bootstrap);
    if (complaint === undefined) return bootstrap;
    const { envoy, args } = options;
    if (args.length > 0 && (await bootstrapComplaint({ envoy, args: [] }, bootstrap)) === undefined)
      throw new PortolanError(
        `Envoy refuses the arguments after --, ${oneLine(args.join(" "))}: ${oneLine(complaint)}`,
      );
    const refusal = `Envoy refuses its bootstrap, ${bootstrap}: ${oneLine(complaint)}`;
    if ((await bootstrapComplaint(options, goodBootstrap)) !== undefined) throw new PortolanError(refusal);
    say(`${refusal}; it is started with the last one that it took`);
    return goodBootstrap;
  }

  /** Whether the Envoy that was started last asks at the socket. */
  async function asksHere(): Promise<boolean> {
    const started = await readFile(goodBootstrap, "utf8").catch(() => "");
    return started.includes(JSON.stringify(socket));
  }

  const adopted = await adoptEnvoy(options);
  if (adopted !== undefined && (await asksHere())) {
    say(`Envoy, process ${adopted.pid}, still runs from before: going on with it`);
    watch(adopted);
  } else if (adopted !== undefined) {
    say(
      `Envoy, process ${adopted.pid}, still runs from before, and does not ask at ${socket}: another one takes its place`,
    );
    await end(adopted);
  }

  return {
    current: () => envoy,
    mayStart: () => envoy === undefined && exitCode === undefined && performance.now() >= notBeforeMs,
    startsAtMs: () => (envoy === undefined ? notBeforeMs : undefined),
    async start() {
      const file = await usableBootstrap();
      watch(await startEnvoy(options, file, usualArguments));
      starts += 1;
      if (file !== bootstrap) return;
      await mkdir(dirname(goodBootstrap), { recursive: true });
      // A disk that is full has the one before.
      const keeping = readFile(bootstrap, "utf8").then((text) => replaceFile(goodBootstrap, text));
      await keeping.catch(() => {});
    },
    gaveUp: () => exitCode,
    starts: () => starts,
    release() {
      isReleased = true;
    },
  };
}

/** An Envoy that no file and no argument names may be in the way of the next one for ever. */
const hintFor = (said: string): string =>
  said.includes("cannot bind")
    ? "; another process has that address: `ss -ltnp` names it, and if it is an Envoy of this folder, end it"
    : "";

/** What an agent ends with whose Envoy has ended so. */
function codeOf(how: string): number {
  const code = Number(/^exit code (\d+)$/.exec(how)?.[1] ?? Number.NaN);
  return Number.isNaN(code) || code === 0 ? 1 : code;
}

/** Words of several lines, for a log. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 1_000);
