import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { R2Bucket } from "@cloudflare/workers-types";
import { createTestHarness } from "wrangler";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { freePort } from "../free-port.ts";
import { LambdaEnvironments } from "../integration/lambda-environments.ts";
import { lambdaFunctions } from "../integration/lambda-functions.ts";
import { program } from "../programs.ts";
import { startS3 } from "../storage/s3-server.ts";
import { startBridge } from "./lambda-bridge.ts";
import { type Platform, startPlatform } from "./platform.ts";

export const secret = "a-shared-secret";

/** One way to run Portolan: where Envoys poll, and where webhooks go. */
export interface Edge {
  readonly frontUrl: string;
  /** The front as its platform lets Envoys reach it; absent: as it is. */
  readonly platform?: Platform;
  /** Whether the front holds polls as it is deployed. */
  readonly holds?: boolean;
  /** Sends a signed request to the compile function. */
  post(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

type Send = (
  path: string,
  init: { method: string; headers: Record<string, string>; body: string },
) => Promise<Response>;

/** Headers of a signed request. */
export const signedPost = (key: string, target: string, body: string, delivery: string, nowMs: number) =>
  signRequest(key, { method: "POST", target, body: new TextEncoder().encode(body) }, delivery, nowMs);

function signing(send: Send): Edge["post"] {
  return async (path, body, headers) => {
    const signed = headers ?? (await signedPost(secret, path, body, crypto.randomUUID(), Date.now()));
    return send(path, { method: "POST", headers: { ...signed }, body });
  };
}

/** An edge that Envoys reach as they reach its platform, and operators its store. */
export type PublicEdge = Edge & { readonly platform: Platform; readonly store: ObjectStore };

/** Both Workers in workerd, on one R2 bucket. @param compileVars more than usual @param frontVars the same, of the front */
export async function workerdEdge(
  compileVars: Readonly<Record<string, string>> = {},
  frontVars: Readonly<Record<string, string>> = {},
): Promise<PublicEdge> {
  const config = (file: string) => new URL(`../../${file}`, import.meta.url);
  const harness = createTestHarness({
    workers: [
      { configPath: config("wrangler.toml"), vars: { AUTHENTICATION: "off", ...frontVars } },
      {
        configPath: config("wrangler.compile.toml"),
        secrets: { PORTOLAN_WEBHOOK_SECRET: secret },
        vars: { LEGACY_API: "true", ...compileVars },
      },
    ],
  });
  const { url } = await harness.listen();
  const compile = harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>("portolan-compile");
  const { SNAPSHOTS } = await compile.getEnv();
  const platform = await startPlatform("cloudflare", url.origin);
  return {
    platform,
    holds: frontVars.MAX_HOLD_MS !== "0",
    store: r2Store(SNAPSHOTS),
    frontUrl: url.origin,
    post: signing(async (path, init) => {
      const response = await compile.fetch(`http://compile${path}`, init);
      return new Response(await response.text(), { status: response.status });
    }),
    async close() {
      await platform.close();
      await harness.close();
    },
  };
}

/** Both Lambda functions as they are deployed, in execution environments behind a bridge, on a real S3 server. @param more settings */
export async function lambdaEdge(more: Readonly<Record<string, string>> = {}): Promise<PublicEdge> {
  const server = await startS3();
  const env = {
    PORTOLAN_BUCKET: server.bucket,
    PORTOLAN_S3_ENDPOINT: server.endpoint,
    PORTOLAN_WEBHOOK_SECRET: secret,
    PORTOLAN_LEGACY_API: "true",
    PORTOLAN_AUTHENTICATION: "off",
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: server.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    ...more,
  };
  const code = await lambdaFunctions();
  const functions = [code.front, code.compile].map((folder) => new LambdaEnvironments(folder, env));
  const [front, compile] = await Promise.all(functions.map(({ handler }) => startBridge(handler)));
  if (front === undefined || compile === undefined) throw new Error("there are two functions");
  const platform = await startPlatform("lambda", front.url);
  return {
    frontUrl: front.url,
    platform,
    store: s3Store({ client: server.client, bucket: server.bucket }),
    post: signing((path, init) => fetch(compile.url + path, init)),
    async close() {
      await platform.close();
      await Promise.all([front.close(), compile.close()]);
      await Promise.all(functions.map((environments) => environments.kill()));
      await server.close();
    },
  };
}

/** The Node server as a process of its own on a folder, with held polls; the compile function beside it. */
export async function nodeEdge(): Promise<Edge> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-node-"));
  const port = await freePort();
  const env = { ...process.env, PORTOLAN_STORE: directory, PORT: String(port) };
  const child = spawn(process.execPath, [await program("server")], { env, stdio: ["ignore", "ignore", "inherit"] });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const store = fileStore(directory);
  const recompile = createRecompiler({ store, sources: ["main"], world: { ...defaultWorldOptions, legacyApi: "0.8" } });
  const secrets = { ...noSecrets, operators: [secret] };
  const compile = await serveHttp(webhookApp({ store, recompile, secrets, sources: ["main"] }), 0);
  const frontUrl = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${frontUrl}/healthz`).then(
      () => true,
      () => false,
    ))
  )
    await new Promise((r) => setTimeout(r, 50));
  return {
    frontUrl,
    post: signing((path, init) => fetch(compile.url + path, init)),
    async close() {
      child.kill("SIGTERM");
      await Promise.all([exit, compile.close()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
