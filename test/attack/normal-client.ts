/**
 * The victim, in a thread of its own: polls its listeners as Envoy does, with the version it has, and is told nothing new as
 * long as nobody gets it into another class. Says how long each poll took.
 */
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { pollOf, victim } from "./world.ts";

/** What the victim saw. */
export interface Seen {
  /** Times of polls, in ms. */
  readonly tookMs: readonly number[];
  /** Answers other than that its version is current. */
  readonly odd: readonly string[];
}

export interface NormalClient {
  /** What was seen since the last call. */
  seen(): Promise<Seen>;
  close(): Promise<void>;
}

/** @returns when the victim has its version */
export async function startNormalClient(url: string): Promise<NormalClient> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { url } });
  const next = () =>
    new Promise<Seen>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  await next();
  return {
    seen() {
      const answer = next();
      worker.postMessage("seen");
      return answer;
    },
    async close() {
      await worker.terminate();
    },
  };
}

const pauseMs = 10;

async function pollForEver(url: string, tell: (seen: Seen) => void, asked: (listener: () => void) => void) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (version?: string): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve) => {
      const body = pollOf("listeners", victim, version);
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const options = { method: "POST", agent, headers, timeout: 30_000 };
      const sent = request(`${url}/v3/discovery:listeners`, options, (response) => {
        let text = "";
        response.on("data", (data) => {
          text += data;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on("timeout", () => sent.destroy(new Error("timeout")));
      sent.on("error", (cause) => resolve({ status: 0, text: cause.message }));
      sent.end(body);
    });
  const version = /"version_info":"([^"]+)"/.exec((await ask()).text)?.[1];
  let tookMs: number[] = [];
  let odd: string[] = [];
  asked(() => {
    tell({ tookMs, odd });
    tookMs = [];
    odd = [];
  });
  tell({ tookMs, odd });
  for (;;) {
    const startMs = performance.now();
    const { status, text } = await ask(version);
    tookMs.push(performance.now() - startMs);
    if (status !== 304 && odd.length < 10) odd.push(`${status} ${text.slice(0, 200)}`);
    await sleep(pauseMs);
  }
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const { url }: { readonly url: string } = workerData;
  await pollForEver(
    url,
    (seen) => port.postMessage(seen),
    (listener) => port.on("message", listener),
  );
}
