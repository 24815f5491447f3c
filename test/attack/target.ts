import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { publishWorld } from "./world.ts";

const entry = new URL("../../functions/server.node.ts", import.meta.url).pathname;

/** A server of Portolan's in a process of its own. */
export interface Target {
  /** REST v3, v1, Connect, gRPC-Web over HTTP/1.1. */
  readonly url: string;
  /** gRPC, gRPC-Web, Connect over HTTP/2. */
  readonly grpcUrl: string;
  /** Resident memory, in bytes. */
  rssBytes(): number;
  /** How the process ended; undefined while it runs. */
  ended(): string | undefined;
  /** Lines of its log that are neither its start nor a refusal: errors. */
  errors(): readonly string[];
  close(): Promise<void>;
}

/** Publishes a world into a folder and starts `functions/server.node.ts` on it, on free ports of loopback. */
export async function startTarget(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-attack-"));
  await publishWorld(folder);
  const env = { ...process.env, PORTOLAN_STORE: folder, HOST: "127.0.0.1", PORT: "0", PORTOLAN_GRPC_PORT: "0" };
  const child = spawn(process.execPath, [entry], { env, stdio: ["ignore", "pipe", "pipe"] });
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
    createInterface(child.stderr).on("line", note);
    createInterface(child.stdout).on("line", (line) => {
      const entry: { readonly level: number; readonly urls?: readonly string[] } = JSON.parse(line);
      if (entry.urls !== undefined) resolve(entry.urls);
      if (entry.level >= 50) note(line);
    });
  });
  const [url = "", grpcUrl = ""] = urls;
  return {
    url,
    grpcUrl,
    rssBytes: () => rssOf(child.pid ?? 0),
    ended: () => ended,
    errors: () => errors,
    async close() {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exit;
      clearTimeout(killer);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Linux's own count; NaN elsewhere. */
function rssOf(pid: number): number {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kib) * 1024;
  } catch {
    return Number.NaN;
  }
}
