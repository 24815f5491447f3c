/** Processes that run on this machine, by what Linux says of them in `/proc`. Where there is no `/proc`, none are found. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { identityOf, type ProcessIdentity } from "./process-identity.ts";

/**
 * The process of this user that was started with one argument after another, of several the one that was started first.
 *
 * @see https://man7.org/linux/man-pages/man5/proc_pid_cmdline.5.html
 */
export async function processWith(option: string, value: string): Promise<ProcessIdentity | undefined> {
  const found: ProcessIdentity[] = [];
  for (const pid of await ownProcesses()) {
    const words = (await textOf(`/proc/${pid}/cmdline`)).split("\0");
    if (words.some((word, at) => word === option && words[at + 1] === value)) found.push(await identityOf(pid));
  }
  return found.sort((a, b) => Number(a.started) - Number(b.started))[0];
}

/**
 * The process of this user that listens at a Unix socket.
 *
 * @see https://man7.org/linux/man-pages/man5/proc_net_unix.5.html: flags 00010000 stand for a socket that listens
 */
export async function listenerAt(socket: string): Promise<number | undefined> {
  const rows = (await textOf("/proc/net/unix")).split("\n").map((line) => line.trim().split(/\s+/));
  const inode = rows.find((row) => row[3] === "00010000" && row.slice(7).join(" ") === socket)?.[6];
  if (inode === undefined) return undefined;
  for (const pid of await ownProcesses()) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      if (target === `socket:[${inode}]`) return pid;
    }
  }
  return undefined;
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** Of the same user, so that no other one's process is taken for ours, whatever it calls itself. */
async function ownProcesses(): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const own: number[] = [];
  for (const pid of pids) {
    const [, user] = /^Uid:\s+\d+\s+(\d+)/m.exec(await textOf(`/proc/${pid}/status`)) ?? [];
    if (pid !== process.pid && user === String(process.geteuid?.())) own.push(pid);
  }
  return own;
}
