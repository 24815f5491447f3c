import { execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { causeText, codeOf, isFileAbsent } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { replaceFile } from "../files/replace-file.ts";
import { identityOf, isAlive, type ProcessIdentity, readIdentity } from "../process-identity.ts";
import { processWith } from "../running-processes.ts";
import { createAdminAddress } from "./admin-address.ts";
import { type EnvoyAdmin, envoyAdmin } from "./envoy-admin.ts";
import { type EnvoyArgument, withUsual } from "./envoy-arguments.ts";
import { type EnvoyLog, envoyLog } from "./envoy-log.ts";

/** An Envoy that the agent has started, or that one before it has. */
export interface EnvoyProcess {
  readonly pid: number;
  /** Whether an agent before this one has started it. */
  readonly isAdopted: boolean;
  readonly log: EnvoyLog;
  /** How it ended, in words: `exit code 1`, `SIGKILL`, or that it is gone. */
  readonly ended: Promise<string>;
  isRunning(): boolean;
  /** Its admin interface, once it has said where that is. */
  admin(): Promise<EnvoyAdmin | undefined>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

export interface EnvoyOptions {
  /** Program. */
  readonly envoy: string;
  /** Besides those that the agent gives. */
  readonly args: readonly string[];
  /** Where its log, its address and its number are written. */
  readonly folder: string;
  /** Told of each line of its log. */
  readonly onLine: (line: string) => void;
}

const names = { log: "envoy.log", admin: "envoy.admin", pid: "envoy.pid" } as const;

const adminPathOption = "--admin-address-path";

/** How often to look after an Envoy that is not a child of this process. */
const lookMs = 250;

/**
 * What Envoy says against a bootstrap.
 *
 * @returns undefined when it takes it
 * @throws PortolanError when there is no such program
 */
export async function bootstrapComplaint(
  { envoy, args }: Pick<EnvoyOptions, "envoy" | "args">,
  bootstrap: string,
): Promise<string | undefined> {
  try {
    await promisify(execFile)(envoy, ["--mode", "validate", "-c", bootstrap, ...withUsual([["-l", "error"]], args)]);
    return undefined;
  } catch (cause) {
    if (isFileAbsent(cause) || codeOf(cause) === "EACCES")
      throw new PortolanError(`cannot run ${envoy}: ${causeText(cause)}; name an Envoy with --envoy`, [], cause);
    const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
    return said.split("\n").slice(-3).join(" ").slice(0, 1_000) || String(cause);
  }
}

/** Starts an Envoy that goes on when its agent is killed. @throws PortolanError when there is no such program */
export async function startEnvoy(
  options: EnvoyOptions,
  bootstrap: string,
  usual: readonly EnvoyArgument[],
): Promise<EnvoyProcess> {
  const { folder, envoy, args, onLine } = options;
  const paths = pathsIn(folder);
  await rm(paths.admin, { force: true });
  const log = await envoyLog(paths.log, onLine);
  const file = openSync(paths.log, "a", 0o644);
  const child = spawn(envoy, ["-c", bootstrap, adminPathOption, paths.admin, ...withUsual(usual, args)], {
    stdio: ["ignore", file, file],
    // Ctrl-C in a terminal reaches the agent alone, which drains first.
    detached: true,
  });
  closeSync(file);
  let isRunning = true;
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      isRunning = false;
      resolve(signal ?? `exit code ${code}`);
    });
    child.once("error", (cause) => {
      isRunning = false;
      resolve(cause.message);
    });
  });
  if (child.pid === undefined)
    throw new PortolanError(`cannot run ${envoy}: ${await ended}; name an Envoy with --envoy`);
  await writeIdentity(paths.pid, await identityOf(child.pid), onLine);
  const { pid } = child;
  return { pid, isAdopted: false, log, ended, ...controls({ pid, folder, onLine, isRunning: () => isRunning }) };
}

/**
 * The Envoy that an agent before this one has started in the folder, if it still runs. Where its file does not name it, it is known by the
 * arguments that it was started with.
 */
export async function adoptEnvoy({ folder, onLine }: EnvoyOptions): Promise<EnvoyProcess | undefined> {
  const paths = pathsIn(folder);
  const identity = (await namedIn(paths.pid)) ?? (await foundByArguments(paths, onLine));
  if (identity === undefined) return undefined;
  let isRunning = true;
  const ended = untilGone(identity).then(() => {
    isRunning = false;
    return "gone";
  });
  const log = await envoyLog(paths.log, onLine);
  const { pid } = identity;
  return { pid, isAdopted: true, log, ended, ...controls({ pid, folder, onLine, isRunning: () => isRunning }) };
}

/** @returns undefined for a file that names no process, or one that is gone */
async function namedIn(path: string): Promise<ProcessIdentity | undefined> {
  const identity = readIdentity(await readFile(path, "utf8").catch(() => ""));
  return identity !== undefined && (await isAlive(identity)) ? identity : undefined;
}

async function foundByArguments(
  { pid: path, admin }: ReturnType<typeof pathsIn>,
  onLine: (line: string) => void,
): Promise<ProcessIdentity | undefined> {
  const identity = await processWith(adminPathOption, admin);
  if (identity === undefined) return undefined;
  onLine(`[agent] ${path} does not name the Envoy of this folder: it is process ${identity.pid}, by its arguments`);
  await writeIdentity(path, identity, onLine);
  return identity;
}

/** A full disk does not keep an Envoy from being started; the next agent finds it by its arguments, where the system shows them. */
const writeIdentity = (path: string, identity: ProcessIdentity, onLine: (line: string) => void): Promise<void> =>
  replaceFile(path, `${JSON.stringify(identity)}\n`).catch((cause: unknown) =>
    onLine(`[agent] cannot write ${path}: ${String(cause)}`),
  );

const pathsIn = (folder: string) => ({
  log: join(folder, names.log),
  admin: join(folder, names.admin),
  pid: join(folder, names.pid),
});

async function untilGone(identity: ProcessIdentity): Promise<void> {
  while (await isAlive(identity)) await sleep(lookMs, undefined, { ref: false });
}

interface Controlled extends Pick<EnvoyOptions, "folder" | "onLine"> {
  readonly pid: number;
  readonly isRunning: () => boolean;
}

function controls({ pid, folder, onLine, isRunning }: Controlled) {
  const { admin: path } = pathsIn(folder);
  const addressNow = createAdminAddress({ path, bootstrap: join(folder, "good", "envoy.json"), pid, onLine });
  let admin: EnvoyAdmin | undefined;
  return {
    isRunning,
    async admin(): Promise<EnvoyAdmin | undefined> {
      if (admin !== undefined) return admin;
      const found = await addressNow();
      if (found !== undefined) admin ??= envoyAdmin(found);
      return admin;
    },
    kill(signal: "SIGTERM" | "SIGKILL") {
      if (!isRunning()) return;
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
    },
  };
}
