/** How a front of several processes ends: nobody whom it has heard, or who has connected, is left without an answer. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { nodeOf } from "../front/fixtures.ts";
import { program } from "../programs.ts";
import { lacks } from "../skip.ts";
import { worldOf } from "../snapshot/worlds.ts";

const entry = await program("server");
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serving(workers: number) {
  const folder = await mkdtemp(join(tmpdir(), "portolan-goodbye-"));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const publisher = createPublisher(fileStore(folder), { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldOf({ web: { clusters: { c: "1" } } }), await publisher.head());
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, PORTOLAN_STORE: folder, PORT: "0", PORTOLAN_WORKERS: String(workers) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  ends.push(() => child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => {
    createInterface(child.stdout).on("line", (line) => {
      const { urls = [] }: { readonly urls?: readonly string[] } = JSON.parse(line);
      if (urls[0] !== undefined) resolve(urls[0]);
    });
  });
  return { child, url };
}

/** Polls on connections of their own that are kept. @returns what each was answered, or why it was not */
function pollsTo(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  ends.push(() => agent.destroy());
  const headers = { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": "30000" };
  return (version?: string) =>
    new Promise<{ readonly status: string; readonly text: string }>((resolve) => {
      const asked = request(`${url}/v3/discovery:clusters`, { method: "POST", agent, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (piece) => {
          text += piece;
        });
        answer.on("end", () => resolve({ status: String(answer.statusCode), text }));
      });
      asked.on("error", ({ message }) => resolve({ status: message, text: "" }));
      asked.end(JSON.stringify({ node: nodeOf("web"), version_info: version }));
    });
}

describe.skipIf(lacks(process.platform === "linux", "Linux")).each([1, 2])(
  "a front of %s processes that is told to end",
  (workers) => {
    it("answers every poll that it holds, and those that have just connected", async () => {
      const { child, url } = await serving(workers);
      const poll = pollsTo(url);
      const version = /"version_info":"(\w+)"/.exec((await poll()).text)?.[1];
      const held = Array.from({ length: 200 }, () => poll(version));
      const heldNow = async () => /portolan_polls_held (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
      await expect.poll(heldNow, { timeout: 20_000 }).toBe("200");
      const late = Array.from({ length: 100 }, () => poll(version));
      const exit = new Promise((resolve) => child.once("exit", resolve));
      setTimeout(() => child.kill("SIGTERM"), 2);
      const answers = await Promise.all([...held, ...late]);
      expect([...new Set(answers.map(({ status }) => status))]).toEqual(["304"]);
      expect(await exit).toBe(0);
    }, 60_000);
  },
);
