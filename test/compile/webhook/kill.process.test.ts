import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";

const script = new URL("compile-process.ts", import.meta.url).pathname;
const secret = "s3cret";
const target = "/sources/main";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-delivery-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Running {
  readonly url: string;
  kill(): Promise<void>;
}

async function start(): Promise<Running> {
  const child: ChildProcess = spawn(process.execPath, [script, folder, secret], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    if (child.stdout !== null) createInterface(child.stdout).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the compile function ended with ${code}`)));
  });
  const kill = () => {
    child.kill("SIGKILL");
    return exit;
  };
  return { url, kill };
}

const bodyOf = (round: number) =>
  JSON.stringify({
    files: [{ file: "a.yaml", text: `apiVersion: v1\nkind: Service\nmetadata: { name: round-${round} }\n` }],
  });

/** Sends one delivery. @returns the answer's status; undefined when there was none */
async function send({ url }: Running, round: number): Promise<number | undefined> {
  const body = bodyOf(round);
  const request = { method: "POST", target, body: new TextEncoder().encode(body) };
  const headers = await signRequest(secret, request, `delivery-${round}`, Date.now());
  return fetch(url + target, { method: "POST", headers, body }).then(
    (response) => response.status,
    () => undefined,
  );
}

/** As senders do: until it is taken, or was before. */
async function sendAgain(running: Running, round: number): Promise<number | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    const status = await send(running, round);
    if (status !== 503 || attempt > 60) return status;
    await sleep(500);
  }
}

describe("a compile function that is killed in the middle of a delivery", () => {
  it("acts for the sender's next attempt, and once only", async () => {
    let running = await start();
    let cut = 0;
    for (let round = 0; round < 3; round += 1) {
      const first = send(running, round);
      await sleep(20 + round * 25);
      await running.kill();
      const answered = await first;
      running = await start();
      const status = await sendAgain(running, round);
      // 409 only for what was answered before, or done but for the answer.
      expect(answered === 200 ? [409] : [200, 409]).toContain(status);
      if (status === 200) cut += 1;
      const [file] = (await readShard(fileStore(folder), "main"))?.files ?? [];
      expect(file?.text).toContain(`round-${round}`);
      expect(await send(running, round)).toBe(409);
    }
    await running.kill();
    expect(cut).toBeGreaterThan(0);
    expect((await fsck(fileStore(folder))).problems).toEqual([]);
  }, 240_000);
});
