import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockFolder, socketIn } from "../../../lib/agent/files/folder-lock.ts";

let folder: string;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-lock-"));
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lock = () => lockFolder(folder, (line) => lines.push(line));
const path = () => join(folder, "agent.lock");

describe("the lock of an agent's folder", () => {
  it.each(["", "{", "null", '{"pid":-1,"started":""}'])(
    "counts as absent where it holds %j, and says so",
    async (text) => {
      await writeFile(path(), text);
      const unlock = await lock();
      expect(lines).toEqual([`${path()} is empty or holds something else, and counts as absent`]);
      expect(JSON.parse(await readFile(path(), "utf8"))).toMatchObject({ pid: process.pid });
      await unlock();
      await expect(access(path())).rejects.toThrow("ENOENT");
    },
  );

  it.each([
    ["emptied", async () => writeFile(path(), "")],
    ["deleted", async () => {}],
  ])("is not taken where it was %s and the other agent still serves", async (_what, harm) => {
    await mkdir(join(folder, "xds"));
    const program = "require('node:net').createServer().listen(process.argv[1], () => console.log('ready'))";
    const other = spawn(process.execPath, ["-e", program, socketIn(folder)]);
    try {
      await once(other.stdout, "data");
      await harm();
      const named = process.platform === "linux" ? `another agent, process ${other.pid}, answers at` : "another agent";
      await expect(lock()).rejects.toThrow(named);
      await expect(access(path())).rejects.toThrow("ENOENT");
    } finally {
      const ended = once(other, "exit");
      other.kill("SIGKILL");
      await ended;
    }
    const unlock = await lock();
    await unlock();
  });
});
