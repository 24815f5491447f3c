/**
 * Polls over HTTP against the front, beside a bare `node:http` server that is asked and answers the same bytes: same client,
 * same process layout, same run. The client shares the machine's cores, so CPU time of the server is the truer figure.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { answerSizes } from "./front-child.ts";
import type { BenchOptions, Row } from "./report.ts";

const connections = 16;

interface Server {
  readonly url: string;
  /** CPU time it has used so far, in µs. */
  cpuUs(): Promise<number>;
  close(): Promise<void>;
}

async function startServer(kind: "front" | "plain"): Promise<Server> {
  const child = fork(fileURLToPath(new URL("front-child.ts", import.meta.url)), [kind]);
  const { url }: { readonly url: string } = await messageOf(child);
  return {
    url,
    async cpuUs() {
      child.send("cpu");
      const { cpuUs }: { readonly cpuUs: number } = await messageOf(child);
      return cpuUs;
    },
    async close() {
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
}

async function messageOf(child: ChildProcess) {
  const [message] = await once(child, "message");
  return message;
}

interface Exchange {
  readonly path: string;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly bytes: number;
  /** The first part of the body. */
  readonly start: string;
}

function ask(agent: Agent, url: string, { path, body }: Exchange): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const asked = request(`${url}${path}`, { method: "POST", agent, headers }, (response) => {
      let bytes = 0;
      let start = "";
      response.on("data", (chunk: Buffer) => {
        if (bytes === 0) start = chunk.toString("latin1");
        bytes += chunk.length;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, bytes, start }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

interface Load {
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly bytes: number;
}

/** So many requests over connections that are kept, after a tenth as many to warm up. */
async function load(server: Server, exchange: Exchange, expected: number, count: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let bytes = 0;
  const run = async (total: number) => {
    let left = total;
    const one = async () => {
      while (left > 0) {
        left -= 1;
        const answer = await ask(agent, server.url, exchange);
        if (answer.status !== expected) throw new Error(`${exchange.path}: ${answer.status} ${answer.start}`);
        bytes = answer.bytes;
      }
    };
    await Promise.all(Array.from({ length: connections }, one));
  };
  await run(Math.ceil(count / 10));
  const cpuBefore = await server.cpuUs();
  const start = performance.now();
  await run(count);
  const seconds = (performance.now() - start) / 1000;
  const cpu = (await server.cpuUs()) - cpuBefore;
  agent.destroy();
  return { requestsPerSecond: count / seconds, cpuUsPerRequest: cpu / count, bytes };
}

/** A node as Envoy sends it: most of its 77 KB are the list of its extensions. */
function envoyNode(name: string) {
  const extension = {
    name: "envoy.filters.http.some_filter",
    category: "envoy.filters.http",
    type_urls: ["envoy.extensions.some.v3.Filter"],
  };
  return { ...nodeOf(name), extensions: Array.from({ length: 590 }, () => extension) };
}

export async function frontBench({ report, quick }: BenchOptions): Promise<void> {
  const front = await startServer("front");
  const plain = await startServer("plain");
  try {
    const rows: Row[] = [];
    const compare = async (what: string, polls: Exchange, path: string, expected: number, count: number) => {
      const requests = quick ? Math.ceil(count / 20) : count;
      const limit = await load(plain, { path, body: polls.body }, expected, requests);
      const ours = await load(front, polls, expected, requests);
      rows.push({
        "": `${what} (${Math.round(polls.body.length / 1000)} KB asked, ${Math.round(ours.bytes / 1000)} KB answered)`,
        "front, 1/s": Math.round(ours.requestsPerSecond),
        "node:http, 1/s": Math.round(limit.requestsPerSecond),
        ratio: ours.requestsPerSecond / limit.requestsPerSecond,
        "front, CPU µs": Math.round(ours.cpuUsPerRequest),
        "node:http, CPU µs": Math.round(limit.cpuUsPerRequest),
        "CPU ratio": limit.cpuUsPerRequest / ours.cpuUsPerRequest,
      });
    };
    const agent = new Agent();
    const path = "/v3/discovery:clusters";
    for (const [name, size] of Object.entries(answerSizes)) {
      const node = envoyNode(name);
      const first = { path, body: pollBody("clusters", node) };
      const { start } = await ask(agent, front.url, first);
      const version = /"version_info":"([^"]+)"|"versionInfo":"([^"]+)"/.exec(start)?.slice(1).find(Boolean);
      if (version === undefined) throw new Error(`an answer without a version: ${start.slice(0, 200)}`);
      if (name === "small") {
        await compare(
          "unchanged poll, 304",
          { path, body: pollBody("clusters", node, { version }) },
          "/304",
          304,
          10_000,
        );
        await compare("first poll, node classified", first, `/${size}`, 200, 4_000);
      }
      const outdated = { path, body: pollBody("clusters", node, { version: "0" }) };
      await compare("changed poll", outdated, `/${size}`, 200, size > 1_000_000 ? 400 : 4_000);
    }
    agent.destroy();
    report.table(`Front, polls over ${connections} kept connections`, rows);
  } finally {
    await Promise.all([front.close(), plain.close()]);
  }
}
