import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a server did with as many equal requests as it could take. */
export interface WrkLoad {
  readonly requests: number;
  readonly requestsPerSecond: number;
}

export interface Posted {
  readonly path: string;
  readonly body: string;
}

/** Which core servers have to themselves, and which their client has. */
const cores = { server: 0, client: 1 } as const;

/** Whether there are `wrk`, and cores for each side. */
export function hasWrk(): boolean {
  try {
    execFileSync("wrk", ["-v"], { stdio: "ignore" });
    return true;
  } catch (cause) {
    // It prints its version, and calls that a failure.
    return process.platform === "linux" && !(cause instanceof Error && "code" in cause && cause.code === "ENOENT");
  }
}

/** Gives a server its core. */
export function pin(pid: number): void {
  execFileSync("taskset", ["-apc", String(cores.server), String(pid)], { stdio: "ignore" });
}

/**
 * Posts the same again and again for some seconds over connections that are kept. It costs less than any server that it asks, so what
 * is measured is the server.
 *
 * @throws Error when an answer is neither 2xx nor 3xx
 */
export function wrkLoad(url: string, { path, body }: Posted, connections: number, seconds: number): WrkLoad {
  const folder = mkdtempSync(join(tmpdir(), "portolan-wrk-"));
  try {
    writeFileSync(join(folder, "body"), body);
    writeFileSync(
      join(folder, "post.lua"),
      `wrk.method = "POST"
       wrk.headers["content-type"] = "application/json"
       wrk.headers["x-envoy-expected-rq-timeout-ms"] = "2000"
       local file = io.open("${folder}/body", "rb")
       wrk.body = file:read("*a")
       file:close()`,
    );
    const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", join(folder, "post.lua"), url + path];
    const told = execFileSync("taskset", ["-c", String(cores.client), "wrk", ...args], { encoding: "utf8" });
    if (told.includes("Non-2xx")) throw new Error(`${url}${path}: ${told}`);
    return {
      requests: Number(/(\d+) requests in/.exec(told)?.[1]),
      requestsPerSecond: Number(/Requests\/sec: +([\d.]+)/.exec(told)?.[1]),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
