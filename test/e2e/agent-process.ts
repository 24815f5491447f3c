import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { program } from "../programs.ts";
import { envoyPath } from "./envoy.ts";

const bundled = await program("agent");

/** A `portolan agent` as a process of its own, with an Envoy that it runs. */
export interface AgentProcess {
  /** Of the agent, and of its Envoy. */
  readonly folder: string;
  /** All that it has written. */
  log(): string;
  readonly pid: number;
  /** Of Envoy, once there is one. */
  envoyPid(): Promise<number>;
  /** Text of a page of Envoy's admin interface; "" while nobody answers. */
  admin(path: string): Promise<string>;
  /** Value of one of Envoy's statistics. */
  stat(name: string): Promise<string | undefined>;
  /** @returns its exit code, or the signal that ended it */
  end(signal: NodeJS.Signals): Promise<number | string>;
  /** The same, when it ends by itself. */
  readonly ended: Promise<number | string>;
}

export interface AgentProcessOptions {
  readonly bootstrap: object;
  /** Kept for the next agent; a new one by default. */
  readonly folder?: string;
  /** What is run; the agent as it is published by default. */
  readonly entry?: string;
  /** Of Node, before what is run. */
  readonly nodeFlags?: readonly string[];
  /** Runs it as this user, who gets the folder, where the tests may do that; as their own by default. */
  readonly uid?: number;
  /** After `agent`. */
  readonly args: readonly string[];
}

/** A folder for an agent. */
export const agentFolder = (): Promise<string> => mkdtemp(join(tmpdir(), "portolan-agent-"));

export async function startAgent({
  bootstrap,
  args,
  entry = bundled,
  nodeFlags = [],
  ...more
}: AgentProcessOptions): Promise<AgentProcess> {
  const folder = more.folder ?? (await agentFolder());
  const file = join(folder, "given.json");
  await writeFile(file, JSON.stringify(bootstrap));
  const words = [
    ...[...nodeFlags, entry, "agent", "--bootstrap", file, "--dir", folder, "--envoy", envoyPath(), "--drain", "0"],
    ...[...args, "--", "--concurrency", "1"],
  ];
  const { uid } = more;
  const user = uid !== undefined && mayRunAs(uid, [entry, envoyPath()]) ? { uid } : {};
  if (user.uid !== undefined) for (const path of [folder, file]) await chown(path, user.uid, user.uid);
  const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "pipe"], ...user });
  return { folder, pid: child.pid ?? 0, ...follow(child), ...envoyIn(folder) };
}

/** Whether this process may start another one as a user who can read these files: it is root's, and no folder above them is its own. */
const mayRunAs = (uid: number, files: readonly string[]): boolean =>
  process.getuid?.() === 0 &&
  spawnSync(
    process.execPath,
    ["-e", "process.argv.slice(1).forEach((file) => fs.accessSync(file, fs.constants.R_OK))", ...files],
    { uid },
  ).status === 0;

function follow(child: ChildProcess) {
  let log = "";
  child.stderr?.on("data", (data) => {
    log += data;
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "nothing"));
  });
  return {
    log: () => log,
    ended,
    end(signal: NodeJS.Signals) {
      child.kill(signal);
      return ended;
    },
  };
}

function envoyIn(folder: string) {
  const admin = async (path: string) => {
    const address = (await readFile(join(folder, "envoy.admin"), "utf8").catch(() => "")).trim();
    if (address === "") return "";
    return fetch(`http://${address}${path}`).then(
      (answer) => answer.text(),
      () => "",
    );
  };
  return {
    admin,
    async envoyPid(): Promise<number> {
      const { pid }: { readonly pid: number } = JSON.parse(await readFile(join(folder, "envoy.pid"), "utf8"));
      return pid;
    },
    async stat(name: string): Promise<string | undefined> {
      const text = await admin(
        `/stats?filter=${encodeURIComponent(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`)}`,
      );
      return text === "" ? undefined : text.trim().slice(name.length + 2);
    },
  };
}

/** Ends whatever Envoy was left in an agent's folder, and the folder. */
export async function clearAgent(folder: string): Promise<void> {
  const pid = await envoyIn(folder)
    .envoyPid()
    .catch(() => 0);
  if (pid !== 0) {
    try {
      process.kill(pid, "SIGKILL");
      await sleep(100);
    } catch {
      // It has ended.
    }
  }
  await rm(folder, { recursive: true, force: true });
}
