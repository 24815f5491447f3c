/**
 * From a signed push to a real Envoy that polls over TLS through what stands before Workers and Lambda functions: how soon edits are in
 * force, and whether a request fails meanwhile.
 */
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { gatewayOfShop } from "../e2e/bookshop.ts";
import { type EdgeShop, editOverEdge, headLookMs, openEdgeShop } from "../e2e/edge-edits.ts";
import { lambdaEdge, type PublicEdge, workerdEdge } from "../e2e/edges.ts";
import { foldersFiles } from "./mesh-folder.ts";
import type { BenchOptions, Row } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

/** As the generated bootstraps have it: an Envoy waits between one and two of it after each answer. */
const pollDelayMs = 1_000;

/** Sources of the compile function: the bookshop, and the synthetic mesh where there is one. */
const bookshopAlone = "main";
const withMesh = "main,mesh";

const quickEdits = 8;
const edits = 60;
const polls = 50;

interface Way {
  readonly edge: string;
  readonly holds: boolean;
  readonly open: (sources: string) => Promise<PublicEdge>;
}

const ways: readonly Way[] = [
  { edge: "workerd, R2", holds: true, open: (SOURCES) => workerdEdge({ SOURCES }) },
  { edge: "workerd, R2", holds: false, open: (SOURCES) => workerdEdge({ SOURCES }, { MAX_HOLD_MS: "0" }) },
  {
    edge: "Lambda's bundles, S3",
    holds: false,
    open: (PORTOLAN_SOURCES) => lambdaEdge({ PORTOLAN_SOURCES }),
  },
];

/** What passes between a change of HEAD and the look or poll that finds it, in ms, where nothing else takes time. */
const waits = {
  /** A look comes once in `headLookMs`. */
  held: { p50: 0.5 * headLookMs, p99: 0.99 * headLookMs },
  /**
   * Pauses are spread evenly from one to two delays. From a random moment the rest of one has the distribution t / 1.5 up to one delay,
   * and 1 - (2 - t)² / 3 beyond it.
   */
  atOnce: { p50: 0.75 * pollDelayMs, p99: (2 - Math.sqrt(0.03)) * pollDelayMs },
};

const percentile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN);

/** The time of one poll for the gateway's route table, of which nothing is new, in ms: the median of several over one connection. */
async function pollMs({ shop, edge: { platform } }: EdgeShop): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: await readFile(platform.caFile) });
  const { node } = await gatewayOfShop();
  // A poll that waits no longer than this is not held.
  const headers = { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": "5000" };
  const poll = (version: object): Promise<{ readonly status: number | undefined; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(`${platform.url}/v3/discovery:routes`, { method: "POST", agent, headers }, (response) => {
        let text = "";
        response.on("data", (data) => {
          text += data;
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      sent.on("error", reject);
      const resources = { type_url: typeUrlOf("routes"), resource_names: [`http.${shop.port}`] };
      sent.end(JSON.stringify({ node, ...resources, ...version }));
    });
  const first = await poll({});
  if (first.status !== 200) throw new Error(`the first poll was answered with ${first.status}: ${first.text}`);
  const { version_info }: { readonly version_info: string } = JSON.parse(first.text);
  const took: number[] = [];
  for (let i = 0; i < polls; i += 1) {
    const startMs = performance.now();
    const { status } = await poll({ version_info });
    if (status !== 304) throw new Error(`a poll was answered with ${status}`);
    took.push(performance.now() - startMs);
  }
  agent.destroy();
  return percentile(took, 0.5);
}

/** One way, measured. */
interface Measured {
  readonly row: Row;
  /** Requests that failed and configuration that was refused, as text; empty when all is well. */
  readonly problems: readonly string[];
}

async function measure(way: Way, services: number, count: number): Promise<Measured> {
  const mesh = services === 0 ? undefined : foldersFiles(syntheticMesh(services).text);
  const opened = await openEdgeShop(() => way.open(mesh === undefined ? bookshopAlone : withMesh), {
    pollDelayMs,
    mesh,
  });
  try {
    const roundTripMs = await pollMs(opened);
    const { edits: made, failures, refused, requests } = await editOverEdge(opened, count);
    const pushed = made.map(({ pushedMs }) => pushedMs);
    const fromStart = made.map(({ inForceMs }) => inForceMs);
    const fromAnswer = made.map(({ pushedMs, inForceMs }) => inForceMs - pushedMs);
    const wait = way.holds ? waits.held : waits.atOnce;
    const limit = (share: number, waitMs: number) => percentile(pushed, share) + waitMs + roundTripMs;
    const [p50, p99] = [percentile(fromStart, 0.5), percentile(fromStart, 0.99)];
    return {
      row: {
        services: services === 0 ? "bookshop" : services,
        edge: way.edge,
        polls: way.holds ? "held" : "at once",
        edits: made.length,
        requests,
        failed: [...failures.values()].reduce((sum, times) => sum + times, 0),
        "push p50": percentile(pushed, 0.5),
        "push p99": percentile(pushed, 0.99),
        "after it p50": percentile(fromAnswer, 0.5),
        "after it p99": percentile(fromAnswer, 0.99),
        "whole p50": p50,
        "whole p99": p99,
        "one poll": roundTripMs,
        "p50 / limit": p50 / limit(0.5, wait.p50),
        "p99 / limit": p99 / limit(0.99, wait.p99),
      },
      problems: [...[...failures].map(([what, times]) => `${times} × ${what}`), ...refused],
    };
  } finally {
    await opened.close();
  }
}

export async function edgeBench({ report, services, quick }: BenchOptions): Promise<void> {
  const size = services.find((one) => one >= 1_000) ?? services[0] ?? 1_000;
  const rows: Row[] = [];
  const problems: string[] = [];
  for (const each of quick ? [0] : [0, size]) {
    for (const way of ways) {
      const measured = await measure(way, each, quick ? quickEdits : edits);
      rows.push(measured.row);
      problems.push(...measured.problems.map((problem) => `${way.edge}: ${problem}`));
    }
  }
  report.table(
    "A signed push → in force in an Envoy behind the platform, ms; the limit is the push, the wait and a poll",
    rows,
  );
  report.rows("edge", rows);
  report.line(`aim: no failed request, nothing refused by Envoy: ${problems.length === 0 ? "met" : "not met"}`);
  for (const problem of problems) report.line(problem);
  if (problems.length > 0) process.exitCode = 1;
}
