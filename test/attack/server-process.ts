import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Memory } from "./report-memory.ts";

const preload = new URL("./report-memory.ts", import.meta.url).href;

/** A server in a process of its own. */
export interface ServerProcess {
  /** What it said at its start. */
  readonly urls: readonly string[];
  /** Resident memory now, in bytes; NaN elsewhere than on Linux. */
  rss(): number;
  /** Memory when its garbage is collected. */
  memory(): Promise<Memory>;
  /** How the process ended; undefined while it runs. */
  ended(): string | undefined;
  /** Lines of its log that are neither its start nor a refusal: errors. */
  errors(): readonly string[];
  close(): Promise<void>;
}

/** Starts a module that logs `urls` when it serves. */
export async function startServerProcess(
  module: string,
  settings: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, ["--import", preload, module], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let ended: string | undefined;
  const exit = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = `exit ${code ?? signal}`;
      resolve();
    });
  });
  const errors: string[] = [];
  const note = (line: string) => {
    if (errors.length < 20) errors.push(line.slice(0, 500));
  };
  const urls = await new Promise<readonly string[]>((resolve, reject) => {
    exit.then(() => reject(new Error(`the server ended with ${ended}: ${errors.join("\n")}`)));
    eachLine(child.stderr, note);
    eachLine(child.stdout, (line) => {
      const entry: { readonly level: number; readonly urls?: readonly string[] } = JSON.parse(line);
      if (entry.urls !== undefined) resolve(entry.urls);
      if (entry.level >= 50) note(line);
    });
  });
  return {
    urls,
    rss: () => rssOf(child.pid ?? 0),
    memory: () =>
      new Promise((resolve, reject) => {
        child.once("message", (memory: Memory) => resolve(memory));
        exit.then(() => reject(new Error(`the server ended with ${ended}`)));
        child.send("memory", (cause) => cause !== null && reject(cause));
      }),
    ended: () => ended,
    errors: () => errors,
    async close() {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exit;
      clearTimeout(killer);
    },
  };
}

function eachLine(stream: Readable | null, act: (line: string) => void): void {
  if (stream !== null) createInterface(stream).on("line", act);
}

function rssOf(pid: number): number {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kib) * 1024;
  } catch {
    return Number.NaN;
  }
}
