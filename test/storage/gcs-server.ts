import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { freePort } from "../free-port.ts";
import { whenUp } from "./s3-server.ts";

const program = new URL("../../.cache/gcs/fake-gcs-server", import.meta.url).pathname;

export const hasGcs = existsSync(program);
export const gcsNeeded = "fake-gcs-server, a Google Cloud Storage server: npm run setup:e2e builds it with Go";

export interface GcsServer {
  readonly endpoint: string;
  /** One that is there. */
  readonly bucket: string;
  /** Statuses that the next requests are answered with: those that are carried out lose their answer. */
  readonly failures: { readonly status: number; readonly isCarriedOut: boolean }[];
  /** `method status` of each answer so far. */
  readonly answers: string[];
  /** The header of each request so far; "" for none. */
  readonly authorizations: string[];
  close(): Promise<void>;
}

/**
 * Starts the Google Cloud Storage server that `npm run setup:e2e` built, with one empty bucket. What it leaves out, this adds in front of
 * it as Google documents it: reads on condition that the generation is another, and failures.
 *
 * @see https://cloud.google.com/storage/docs/json_api/v1/objects/get
 */
export async function startGcs(): Promise<GcsServer> {
  const port = await freePort();
  const host = ["-scheme", "http", "-host", "127.0.0.1", "-port", String(port)];
  const child = spawn(program, [...host, "-backend", "memory", "-log-level", "error"], { stdio: "ignore" });
  const origin = `http://127.0.0.1:${port}`;
  await whenUp(`${origin}/storage/v1/b?project=p`);
  const bucket = "portolan-test";
  const made = await fetch(`${origin}/storage/v1/b?project=p`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: bucket }),
  });
  if (!made.ok) {
    child.kill("SIGKILL");
    throw new Error(`no bucket: ${made.status} ${await made.text()}`);
  }

  const failures: { readonly status: number; readonly isCarriedOut: boolean }[] = [];
  const answers: string[] = [];
  const authorizations: string[] = [];
  async function answer(request: IncomingMessage): Promise<Response> {
    const { method = "", url = "/" } = request;
    authorizations.push(request.headers.authorization ?? "");
    const body = method === "POST" ? { body: new Uint8Array(await buffer(request)) } : {};
    const failure = failures.shift();
    const failed = new Response(null, { status: failure?.status ?? 500 });
    if (failure?.isCarriedOut === false) return failed;
    const found = await fetch(origin + url, { method, ...body });
    if (failure !== undefined) return failed;
    const known = new URL(url, origin).searchParams.get("ifGenerationNotMatch");
    if (known === null || known !== found.headers.get("x-goog-generation")) return found;
    await found.body?.cancel();
    return new Response(null, { status: 304 });
  }
  const front = createServer(async (request, response) => {
    const answered = await answer(request);
    answers.push(`${request.method} ${answered.status}`);
    const headers = [...answered.headers].filter(([name]) => !/^(?:content-|transfer-)/.test(name));
    response.writeHead(answered.status, Object.fromEntries(headers));
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const { port: frontPort } = front.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${frontPort}`,
    bucket,
    failures,
    answers,
    authorizations,
    async close() {
      front.close();
      front.closeAllConnections();
      const exit = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exit;
    },
  };
}
