import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clusterOfAgent } from "../../../lib/agent/bootstrap.ts";
import { createAdminAddress } from "../../../lib/agent/envoy/admin-address.ts";
import { bootstrapName, createEnvoyKeeper } from "../../../lib/agent/envoy/envoy-keeper.ts";
import { identityOf } from "../../../lib/agent/process-identity.ts";
import { lacks } from "../../skip.ts";

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

const keeperOf = (socket: string, say: (line: string) => void, onLine: (line: string) => void = () => {}) =>
  createEnvoyKeeper({
    envoy: "envoy",
    args: [],
    folder,
    socket,
    maxRestarts: 0,
    say,
    onLine,
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

  it.skipIf(lacks(process.platform === "linux", "Linux")).each([
    ["empty", ""],
    ["garbage", "\u0000{"],
    ["of another process", JSON.stringify({ pid: process.ppid, started: "1" })],
    ["of every process", JSON.stringify({ pid: -1, started: "gone" })],
  ])("is found by its arguments where envoy.pid is %s", async (_what, text) => {
    const path = join(folder, "envoy.pid");
    await writeFile(path, text);
    const envoy = spawn(process.execPath, ["-e", running, "--", "--admin-address-path", join(folder, "envoy.admin")]);
    try {
      await once(envoy.stdout, "data");
      const socket = join(folder, "xds", "socket");
      await mkdir(join(folder, "good"));
      await writeFile(join(folder, "good", bootstrapName), JSON.stringify(clusterOfAgent(socket)));
      const lines: string[] = [];
      const keeper = await keeperOf(
        socket,
        () => {},
        (line) => lines.push(line),
      );
      keeper.release();
      expect(keeper.current()?.pid).toBe(envoy.pid);
      expect(lines).toEqual([
        `[agent] ${path} does not name the Envoy of this folder: it is process ${envoy.pid}, by its arguments`,
      ]);
      expect(JSON.parse(await readFile(path, "utf8"))).toEqual(await identityOf(envoy.pid ?? 0));
    } finally {
      envoy.kill("SIGKILL");
    }
  });
});

const running = "console.log('ready'); setInterval(() => {}, 1_000_000)";

describe("an address of the admin interface that cannot be read", () => {
  const addressOf = async (text: string, bootstrap: object) => {
    const path = join(folder, "envoy.admin");
    await writeFile(path, text);
    const file = join(folder, "good.json");
    await writeFile(file, JSON.stringify(bootstrap));
    const lines: string[] = [];
    const address = createAdminAddress({ path, bootstrap: file, pid: 7, onLine: (line) => lines.push(line) });
    const found = [await address(), await address()];
    return { found, lines };
  };
  const at = (portValue: number) => ({ admin: { address: { socketAddress: { address: "127.0.0.1", portValue } } } });

  it.each(["garbage", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "http://127.0.0.1:1/", "a b:1", "\u0000:1"])(
    "counts as absent: %j",
    async (text) => {
      const { found, lines } = await addressOf(text, at(15_000));
      expect(found).toEqual(["127.0.0.1:15000", "127.0.0.1:15000"]);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain("envoy.admin holds no address, and counts as absent");
    },
  );

  it("says what to do where the bootstrap takes any port", async () => {
    const { found, lines } = await addressOf("garbage", at(0));
    expect(found).toEqual([undefined, undefined]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("end process 7, and another Envoy is started");
  });

  it("is waited for while Envoy writes it, and is the bootstrap's after that", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const path = join(folder, "envoy.admin");
    const file = join(folder, "good.json");
    await writeFile(path, "");
    await writeFile(file, JSON.stringify(at(15_000)));
    const address = createAdminAddress({ path, bootstrap: file, pid: 7, onLine() {} });
    expect(await address()).toBe(undefined);
    vi.advanceTimersByTime(2_000);
    expect(await address()).toBe("127.0.0.1:15000");
    await writeFile(path, "[::1]:9901\n");
    expect(await address()).toBe("[::1]:9901");
  });
});
