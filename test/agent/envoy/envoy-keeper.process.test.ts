import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clusterOfAgent } from "../../../lib/agent/bootstrap.ts";
import { bootstrapName, createEnvoyKeeper } from "../../../lib/agent/envoy/envoy-keeper.ts";
import { identityOf } from "../../../lib/agent/process-identity.ts";

let folder: string;
let child: ChildProcessWithoutNullStreams;
let exited: Promise<unknown>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-keeper-"));
  child = spawn("sh", ["-c", "trap '' TERM; echo ready; exec sleep 1000"]);
  exited = once(child, "exit");
  await once(child.stdout, "data");
  await writeFile(join(folder, "envoy.pid"), JSON.stringify(await identityOf(child.pid ?? 0)));
});
afterEach(async () => {
  vi.useRealTimers();
  child.kill("SIGKILL");
  await exited;
  await rm(folder, { recursive: true, force: true });
});

const keeperOf = (socket: string, say: (line: string) => void) =>
  createEnvoyKeeper({
    envoy: "envoy",
    args: [],
    folder,
    socket,
    maxRestarts: 0,
    say,
    onLine() {},
    onChange() {},
    onEnd() {},
  });

describe("an Envoy that still runs from an agent before", () => {
  it("is killed where it asks elsewhere and has not ended ten seconds after SIGTERM", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { promise: told, resolve } = Promise.withResolvers<string>();
    const keeping = keeperOf(join(folder, "xds", "socket"), resolve);
    expect(await told).toContain("another one takes its place");
    vi.advanceTimersByTime(10_000);
    expect(await exited).toEqual([null, "SIGKILL"]);
    expect((await keeping).current()).toBe(undefined);
  });

  it("is gone on with where it asks at the agent's socket, whatever is in the path", async () => {
    const socket = join(folder, 'a "folder"', "xds", "socket");
    const good = join(folder, "good", bootstrapName);
    await mkdir(dirname(good));
    await writeFile(good, JSON.stringify(clusterOfAgent(socket), undefined, 2));
    const said: string[] = [];
    const keeper = await keeperOf(socket, (line) => said.push(line));
    keeper.release();
    expect(said).toEqual([`Envoy, process ${child.pid}, still runs from before: going on with it`]);
    expect(keeper.current()?.pid).toBe(child.pid);
  });
});
