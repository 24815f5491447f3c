import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { startS3 } from "../storage/s3-server.ts";
import { seeded } from "./faulty-store.ts";

const script = new URL("publish-for-ever.ts", import.meta.url).pathname;

/** Publishes in another process and kills it, at moments that a seed decides. @returns the last generation it told of */
async function publishAndKill(args: readonly string[], afterMs: number, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  let told = "";
  let errors = "";
  const first = new Promise<void>((resolve) => {
    child.stdout.on("data", (data) => {
      told += data;
      resolve();
    });
    child.once("exit", () => resolve());
  });
  child.stderr.on("data", (data) => {
    errors += data;
  });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  await first;
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill("SIGKILL");
  await exit;
  expect(errors).toBe("");
  return Number(told.trim().split("\n").at(-1));
}

async function killAgainAndAgain(
  store: ObjectStore,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const random = seeded(42);
  for (let round = 0; round < 8; round += 1) {
    const acknowledged = await publishAndKill(args, random() * 150, env);
    const head = (await readHead(store))?.head;
    expect(head?.generation).toBeGreaterThanOrEqual(acknowledged);
  }
  const { problems, publications } = await fsck(store);
  expect(problems).toEqual([]);
  expect(publications).toBeGreaterThanOrEqual(8);
}

describe("a publisher that is killed at any moment", () => {
  it("leaves a whole store of files behind", async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-kill-"));
    await killAgainAndAgain(fileStore(folder), [folder]);
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  it("leaves a whole bucket behind", async () => {
    const server = await startS3();
    const env = {
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    };
    await killAgainAndAgain(
      s3Store({ client: server.client, bucket: server.bucket }),
      [server.endpoint, server.bucket],
      env,
    );
    await server.close();
  }, 60_000);
});
