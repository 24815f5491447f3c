/**
 * A live cluster as a source: a real API server with 2,000 services and 20,000 pods, collected, compiled, and served to a real Envoy
 * that holds its polls. Skipped where `npm run test:servers` has built no servers.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import picocolors from "picocolors";
import { buildCollector } from "../../infra/build.mjs";
import { runCli } from "../../lib/cli/program.ts";
import { shopHost, startGateway } from "../e2e/bookshop.ts";
import { eventually } from "../e2e/envoy.ts";
import { freePort } from "../free-port.ts";
import { type ApiServer, openApiServer } from "../servers/api-server.ts";
import { installIstioKinds } from "../servers/custom-resources.ts";
import { hasApiServer } from "../servers/server-binaries.ts";
import { fillCluster, namespaceOf, podName } from "./live-mesh.ts";
import type { BenchOptions } from "./report.ts";

const cli = new URL("../../functions/cli.ts", import.meta.url).pathname;

interface TimedEvent {
  readonly atMs: number;
  readonly event: string;
  readonly url?: string;
  readonly sizeBytes?: number;
  readonly objects?: number;
}

/** As infra/kubernetes starts a collector: Node takes what it is given otherwise, needed or not. */
const smallNode = { NODE_OPTIONS: "--max-semi-space-size=2 --max-old-space-size=160", MALLOC_ARENA_MAX: "2" };

/** A command as a process of its own, with the JSON lines that it prints. */
function startCommand(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, [program, ...args, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const events: TimedEvent[] = [];
  if (child.stdout !== null) {
    createInterface(child.stdout).on("line", (line) => {
      events.push({ ...JSON.parse(line), atMs: performance.now() });
    });
  }
  return {
    events,
    first: (event: string) =>
      eventually(
        async () => events.find((one) => one.event === event),
        (found) => found !== undefined,
        600_000,
      ),
    /** Resident memory in MiB, now and at most. */
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      const mib = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
      return { now: mib("VmRSS"), most: mib("VmHWM") };
    },
    async stop() {
      const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.kill("SIGTERM");
      await exit;
    },
  };
}

const percentile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function sourcesBench({ report, quick }: BenchOptions): Promise<void> {
  if (!hasApiServer()) {
    report.line("sources: skipped, there is no API server; npm run test:servers builds it");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-sources-"));
  const server = await openApiServer();
  try {
    await measureAll(server, folder, { report, quick });
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(
  server: ApiServer,
  folder: string,
  { report, quick }: Pick<BenchOptions, "report" | "quick">,
): Promise<void> {
  const size = quick ? { services: 100, podsEach: 10 } : { services: 2_000, podsEach: 10 };
  await installIstioKinds(server);
  const port = await applyGateway(server, folder);
  await fillCluster(server, size);
  report.line(`${size.services} services with slices, ${size.services * size.podsEach} pods in a real API server`);

  const collecting = ["collect", "kube", "--no-compile", "--store", join(folder, "collected")];
  const bundle = join(await buildCollector(folder), "index.mjs");
  const startMs = performance.now();
  const collector = startCommand(bundle, collecting, { KUBECONFIG: server.kubeconfig, ...smallNode });
  const pushed = await collector.first("pushed");
  const filledMs = Math.round((pushed?.atMs ?? 0) - startMs);
  await pause(3_000);
  const before = collector.events.length;
  await touchPod(server, 7, 3);
  await eventually(
    async () => collector.events.length,
    (length) => length > before,
    30_000,
  );
  const { now, most } = collector.memory();
  const podBytes = collector.events.at(-1)?.sizeBytes ?? 0;
  report.table("the collector, a bundle in a process of its own", [
    { what: "start to the whole shard, ms", figure: filledMs },
    { what: "bytes of the whole shard, KiB", figure: Math.round((pushed?.sizeBytes ?? 0) / 1024) },
    { what: "bytes pushed for one pod's change (aim 20,480)", figure: podBytes },
    { what: "memory, resident, MiB (aim 150)", figure: now },
    { what: "memory, at most, MiB", figure: most },
  ]);
  await collector.stop();

  const devMs = performance.now();
  const dev = startCommand(cli, ["dev", "--kube", "--port", "0", "--store", join(folder, "dev")], {
    KUBECONFIG: server.kubeconfig,
  });
  const serving = await dev.first("serving");
  report.table("dev --kube, everything in one process", [
    { what: "start to the first published root, ms", figure: Math.round((serving?.atMs ?? 0) - devMs) },
    { what: "memory, resident, MiB", figure: dev.memory().now },
    { what: "memory, at most, MiB", figure: dev.memory().most },
  ]);
  const envoy = await startGateway(serving?.url ?? "");
  await changeRoutes(server, dev.events, port, quick ? 10 : 200, report);
  await envoy.stop();
  await dev.stop();
}

/** The bookshop's gateway, with a route that answers by itself. @returns its port */
async function applyGateway(server: ApiServer, folder: string): Promise<number> {
  const port = await freePort();
  const sample = new URL("../../samples/bookshop/", import.meta.url).pathname;
  const text = readFileSync(join(sample, "gateway.yaml"), "utf8").replaceAll("10080", String(port));
  // No slice of its own: the API server takes none on the loopback.
  const documents = text.split(/^---$/m).filter((one) => !one.includes("EndpointSlice"));
  const file = join(folder, "gateway.yaml");
  const namespace = readFileSync(join(sample, "namespace.yaml"), "utf8");
  writeFileSync(file, [namespace, ...documents, JSON.stringify(routeOf(0))].join("\n---\n"));
  process.env.KUBECONFIG = server.kubeconfig;
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => void lines.push(line),
    err: (line: string) => void lines.push(line),
    colours: picocolors.createColors(false),
  };
  if ((await runCli(["node", "portolan", "apply", "-f", file, "--kube"], terminal)) !== 0)
    throw new Error(lines.join("\n"));
  const ip = "127.0.0.1";
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
  const path = "/api/v1/namespaces/bookshop/pods/istio-ingressgateway-1/status";
  await server.ask("PATCH", path, { status }, "application/merge-patch+json");
  return port;
}

const routeOf = (round: number) => ({
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name: "rounds", namespace: "bookshop" },
  spec: {
    hosts: [shopHost],
    gateways: ["bookshop"],
    http: [{ directResponse: { status: 200, body: { string: `round ${round}` } } }],
  },
});

async function touchPod(server: ApiServer, service: number, pod: number): Promise<void> {
  const path = `/api/v1/namespaces/${namespaceOf(service)}/pods/${podName(service, pod)}`;
  await server.ask("PATCH", path, { metadata: { labels: { touched: "yes" } } }, "application/merge-patch+json");
}

function answerOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ port, agent: false, headers: { host: shopHost } }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    });
    sent.on("error", () => resolve(""));
    sent.end();
  });
}

/** Changes a route again and again, each time when Envoy's polls are held: from the API server's answer on. */
async function changeRoutes(
  server: ApiServer,
  events: readonly TimedEvent[],
  port: number,
  rounds: number,
  report: BenchOptions["report"],
): Promise<void> {
  await eventually(
    () => answerOf(port),
    (text) => text === "round 0",
    60_000,
  );
  const published: number[] = [];
  const inForce: number[] = [];
  const path = "/apis/networking.istio.io/v1/namespaces/bookshop/virtualservices/rounds";
  for (let round = 1; round <= rounds; round += 1) {
    // Past the delay between polls.
    await pause(2_200);
    const before = events.length;
    await server.ask("PATCH", path, { spec: routeOf(round).spec }, "application/merge-patch+json");
    const startMs = performance.now();
    await eventually(
      () => answerOf(port),
      (text) => text === `round ${round}`,
      60_000,
      5,
    );
    inForce.push(performance.now() - startMs);
    const found = await eventually(
      async () => events.slice(before).find(({ event }) => event === "published"),
      (one) => one !== undefined,
      60_000,
    );
    published.push((found?.atMs ?? Number.NaN) - startMs);
  }
  const row = (what: string, times: readonly number[]) => {
    const sorted = times.toSorted((a, b) => a - b);
    return { what, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), most: percentile(sorted, 1) };
  };
  report.table(`a VirtualService changed ${rounds} times, ms after the API server's answer (aim p50 150)`, [
    row("the root is published, and told", published),
    row("in force in an Envoy that holds its polls", inForce),
  ]);
}
