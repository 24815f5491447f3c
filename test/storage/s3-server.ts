import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { freePort } from "../free-port.ts";

const versitygw = new URL("../../.cache/bin/versitygw", import.meta.url).pathname;
const moto = new URL("../../.venv/bin/moto_server", import.meta.url).pathname;
const accessKeyId = "portolan";
const secretAccessKey = "portolan-secret";

export interface S3Server {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly client: S3Client;
  readonly bucket: string;
  close(): Promise<void>;
}

/** Whether the server that is there tells of its objects' events. */
export const sendsEvents = existsSync(versitygw);

/**
 * Starts the S3 server that `npm run setup:e2e` fetched, with one empty bucket.
 *
 * @param eventsTo address that its events are sent to, as S3 sends them to a queue
 * @param region that requests have to be signed for
 */
export async function startS3(eventsTo?: string, region = "us-east-1"): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-s3-"));
  const port = await freePort();
  const child = await startProcess(directory, port, region, eventsTo);
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  await whenUp(endpoint);
  const bucket = "portolan-test";
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    endpoint,
    accessKeyId,
    secretAccessKey,
    client,
    bucket,
    async close() {
      client.destroy();
      const exit = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exit;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startProcess(directory: string, port: number, region: string, eventsTo?: string): Promise<ChildProcess> {
  if (existsSync(versitygw)) {
    const data = join(directory, "data");
    await mkdir(data);
    const keys = ["--access", accessKeyId, "--secret", secretAccessKey];
    const events = eventsTo === undefined ? [] : ["--event-webhook-url", eventsTo];
    const args = [...keys, "--port", `127.0.0.1:${port}`, "--region", region, "--quiet", ...events, "posix", data];
    return spawn(versitygw, args, { stdio: "ignore" });
  }
  if (existsSync(moto)) return spawn(moto, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  throw new Error("no S3 server: install Go (or Python 3 with venv), then run `npm run setup:e2e`");
}

/** Waits for a server as long as a machine with other work takes to start one: a minute. */
export async function whenUp(endpoint: string): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      return;
    await sleep(50);
  }
  throw new Error(`no server at ${endpoint}`);
}
