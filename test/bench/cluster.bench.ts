/**
 * In istiod's place: what `serve` with its CA and webhooks takes in memory, and how a mesh of agents comes back after it was restarted. Agents
 * are light ones, in this process: each has a connection over TLS, asks for a certificate with its token, and opens a delta stream.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { requestFor } from "../ca/requests.ts";
import { type Connected, type Held, type LightAgentOptions, startLightAgent } from "./light-agent.ts";
import type { BenchOptions } from "./report.ts";
import { type Serving, startServing } from "./serving.ts";

const accounts = 200;
const namespace = "team-0";

export async function clusterBench({ report, quick, services, held: count = 5_000 }: BenchOptions): Promise<void> {
  const size = quick ? 100 : (services.filter((one) => one <= 1_000).at(-1) ?? 1_000);
  const agents = quick ? 100 : count;
  const serving = await startServing(size);
  try {
    const compiled = serving.usage();
    report.table(`serve with CA and webhooks, ${size} services`, [
      ...compiled.processes.map(({ name, bytes }) => ({ "": name, MB: bytes / 1e6 })),
      { "": "all", MB: compiled.bytes / 1e6, limit: 350 },
    ]);
    const options = await optionsOf(serving, agents);
    const [first] = options;
    if (first === undefined) return;
    const reader = await startLightAgent({ ...first, reads: true });
    const fresh = await crowd(
      serving,
      options.slice(0, 200).map((one) => ({ ...one, names: reader.held })),
    );
    const all = await crowd(
      serving,
      options.map((one) => ({ ...one, held: reader.held })),
    );
    for (const one of [reader, ...fresh.connected, ...all.connected]) one.close();
    const beforeMs = performance.now();
    await serving.restart();
    const startedMs = performance.now() - beforeMs;
    const again = await crowd(
      serving,
      options.map((one) => ({ ...one, held: reader.held })),
    );
    const held = serving.usage();
    for (const one of again.connected) one.close();
    report.table("agents: TLS, a certificate, a delta stream with clusters, endpoints, listeners, routes", [
      { "": "new, with everything to read", ...fresh.row },
      { "": "with their resources, on a warm server", ...all.row },
      { "": "after a restart of the server", ...again.row },
    ]);
    report.line(`an agent has ${sizesOf(reader.held)}; the server was back after ${Math.round(startedMs)} ms`);
    report.line(
      `with ${agents} agents connected: ${held.processes.map(({ name, bytes }) => `${name} ${(bytes / 1e6).toFixed(0)} MB`).join(", ")}`,
    );
    const perAgent = Number(again.row["server CPU, ms an agent"]);
    report.line(
      `the aim is 5,000 within 60 s and no refusal: ${perAgent.toFixed(2)} ms of CPU an agent are ${Math.floor(60_000 / perAgent)} in 60 s on a core`,
    );
  } finally {
    await serving.close();
  }
}

const sizesOf = (held: Held): string =>
  Object.entries(held)
    .map(([type, names]) => `${Object.keys(names).length} ${type}`)
    .join(", ");

/** Agents of as many pods, of 200 service accounts. */
async function optionsOf(serving: Serving, count: number): Promise<readonly LightAgentOptions[]> {
  const { csr } = await requestFor("P-256");
  const { url, roots } = serving;
  const all: LightAgentOptions[] = [];
  for (let at = 0; at < count; at += 1) {
    const [pod, account] = [`agent-${at}`, `account-${at % accounts}`];
    const metadata = { NAMESPACE: namespace, LABELS: { app: "client" }, CLUSTER_ID: "Kubernetes" };
    const ip = `10.200.${at >> 8}.${at & 255}`;
    const node = { id: `sidecar~${ip}~${pod}.${namespace}~${namespace}.svc.cluster.local`, metadata };
    all.push({ url, roots, csr, node, token: await serving.token(namespace, account, pod) });
  }
  return all;
}

/** All at once, as after a restart: none waits for another. */
async function crowd(serving: Serving, options: readonly LightAgentOptions[]) {
  const before = serving.usage();
  const own = process.cpuUsage();
  const startMs = performance.now();
  const doneMs: number[] = [];
  const connected: Connected[] = [];
  const refusals = new Map<string, number>();
  await Promise.all(
    options.map(async (one) => {
      try {
        connected.push(await startLightAgent(one));
        doneMs.push(performance.now() - startMs);
      } catch (cause) {
        const text = cause instanceof Error ? cause.message : String(cause);
        refusals.set(text, (refusals.get(text) ?? 0) + 1);
      }
    }),
  );
  await sleep(0);
  const cpuMs = serving.usage().cpuMs - before.cpuMs;
  const { user, system } = process.cpuUsage(own);
  const bytes = connected.reduce((sum, one) => sum + one.bytes, 0);
  const at = (share: number) => Math.round(doneMs[Math.floor(share * (doneMs.length - 1))] ?? 0);
  const [refusal] = refusals;
  return {
    connected,
    row: {
      agents: options.length,
      "ms p50": at(0.5),
      "ms, the last": at(1),
      refused: [...refusals.values()].reduce((sum, one) => sum + one, 0),
      ...(refusal === undefined ? {} : { "first refusal": refusal[0] }),
      "server CPU, ms an agent": cpuMs / options.length,
      "agents' own": (user + system) / 1_000 / options.length,
      "KB an agent": bytes / 1_000 / Math.max(1, connected.length),
    },
  };
}
