import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentMetrics } from "../../lib/agent/status/agent-metrics.ts";
import { readinessApp } from "../../lib/cli/collect/readiness.ts";
import { startDev } from "../e2e/dev-process.ts";
import { eventually } from "../e2e/envoy.ts";
import { type Exposed, readExposition } from "./exposition.ts";
import { readPromql } from "./promql.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFile(join(root, "infra/observability", file), "utf8");

/** Asks for the keys of an issuer on this machine, which nobody is asked for. */
const tokens = `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: bookshop }
spec: { jwtRules: [{ issuer: "https://localhost:1" }] }
`;

/** A proxy of the bookshop. */
const node = {
  id: "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local",
  cluster: "istio-ingressgateway.bookshop",
  metadata: { NAMESPACE: "bookshop", LABELS: { istio: "ingressgateway" } },
};

/** What a real process exposes: `dev`, which is a front, and compiles. */
let exposed: readonly Exposed[] = [];
let scraped = "";
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-metrics-"));
  await cp(join(root, "samples/bookshop"), join(folder, "mesh"), { recursive: true });
  await writeFile(join(folder, "mesh/tokens.yaml"), tokens);
  const dev = await startDev(join(folder, "mesh"));
  try {
    // What is counted of polls has its labels from the first one on.
    const json = { "content-type": "application/json" };
    await fetch(`${dev.url}/v3/discovery:clusters`, { method: "POST", headers: json, body: "no request" });
    const poll = async (body: object) =>
      (
        await fetch(`${dev.url}/v3/discovery:clusters`, { method: "POST", headers: json, body: JSON.stringify(body) })
      ).text();
    const { version_info } = JSON.parse(await poll({ node }));
    // What a node has accepted it says with its next poll.
    await poll({ node, version_info });
    const metrics = async () => (await fetch(`${dev.url}/metrics`)).text();
    scraped = await eventually(metrics, (text) => text.includes("portolan_resolver_age_seconds{"));
    exposed = readExposition(scraped);
  } finally {
    await dev.stop();
  }
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const own = () => exposed.filter(({ name }) => name.startsWith("portolan_"));

/** What a collector exposes, and what an agent does. */
async function ofOthers(): Promise<readonly Exposed[]> {
  const state = { source: "a", isFilled: true, objects: 1, pushes: 1, pushedBytes: 1, asOfMs: 1, failure: "" };
  const statuses = () => ({ isHolder: true, written: 1, refused: 0, trouble: "" });
  const app = readinessApp({ states: () => [state], statuses, staleAfter: 60, now: Date.now });
  const costs = { residentBytes: 5, cpuSeconds: 0.5 };
  const running = { pid: 1, refused: [], changes: 3, starts: 1 };
  const certificate = { notAfterMs: 1_000, isFailing: true };
  const agent = agentMetrics(running, costs, { dns: 0, status: 0, xds: 0 }, certificate);
  return [...readExposition(await (await app.request("/metrics")).text()), ...readExposition(agent)];
}

describe("the metrics of a real process", () => {
  it("have names by Prometheus' conventions, a type, and a sentence of help; a collector's and an agent's, too", async () => {
    expect(own().length).toBeGreaterThan(15);
    const others = (await ofOthers()).filter(({ name }) => name.startsWith("portolan_"));
    expect(others.length).toBeGreaterThan(12);
    const wrong = [...own(), ...others].flatMap(({ name, type, help }) => [
      ...(/^[a-z][a-z0-9_]*$/.test(name) ? [] : [`${name}: other letters`]),
      ...((type === "counter") === name.endsWith("_total") ? [] : [`${name}: a ${type}`]),
      ...(/_(ms|milliseconds|minutes|kib|mib|kb|percent|count|sum|bucket)(_|$)/.test(name)
        ? [`${name}: no base unit, or a suffix of histograms`]
        : []),
      ...(/seconds|bytes/.test(name) && !/_(seconds|bytes)(_total)?$/.test(name)
        ? [`${name}: the unit is not last`]
        : []),
      ...(type === "histogram" && !/_(seconds|bytes)$/.test(name) ? [`${name}: a histogram without a unit`] : []),
      ...(/^[A-Z0-9].*\.$/.test(help) ? [] : [`${name}: help is no sentence`]),
      ...(["counter", "gauge", "histogram", "summary"].includes(type) ? [] : [`${name}: no type`]),
    ]);
    expect(wrong).toEqual([]);
  });

  it("count each proxy in one state", () => {
    const counts = [...scraped.matchAll(/^portolan_nodes\{state="([a-z-]+)"\} (\d+)$/gm)].map(
      ([, state, count]) => [state, Number(count)] as const,
    );
    expect(counts.map(([state]) => state).toSorted()).toEqual(["gone", "not-sent", "refused", "stale", "synced"]);
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(1);
  });

  it("are there as 0 before they are counted first, where an alert waits for the first", () => {
    const zero = (name: string) => exposed.find((one) => one.name === name)?.samples.size;
    expect([
      zero("portolan_refusals_total"),
      zero("portolan_compiles_total"),
      zero("portolan_head_errors_total"),
    ]).toEqual([1, 1, 1]);
  });

  it("say where HEAD stands", () => {
    const names = own().flatMap(({ samples }) => [...samples]);
    expect(names).toEqual(
      expect.arrayContaining([
        "portolan_head_steps",
        "portolan_head_pinned",
        "portolan_head_canary",
        "portolan_compile_running_seconds",
      ]),
    );
  });

  it("are all in the documents", async () => {
    const pages = await Promise.all(
      ["operations.md", "sources.md", "gateway-api.md"].map((page) => readFile(join(root, "docs", page), "utf8")),
    );
    const missing = own()
      .map(({ name }) => name)
      .filter((name) => !pages.some((text) => text.includes(name)));
    expect([...new Set(missing)]).toEqual([]);
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: object;
  readonly annotations: { readonly summary: string; readonly description: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

async function expressions(): Promise<readonly (readonly [string, string])[]> {
  const rules = load(await read("alerts.yaml")) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }; // checked below
  const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(await read("grafana-dashboard.json"));
  return [
    ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const)),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ];
}

describe("the dashboard and the alerts", () => {
  it("hold nothing that is no PromQL", async () => {
    const all = await expressions();
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter(([, expr]) => readPromql(expr).errors.length > 0)).toEqual([]);
    expect(readPromql("sum(rate(portolan_polls_total[5m])").errors).not.toEqual([]);
  });

  it("name no metric that nobody exposes", async () => {
    const known = new Set(
      [...exposed, ...(await ofOthers())].flatMap(({ name, type, samples }) => [
        ...samples,
        ...(type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name]),
      ]),
    );
    const named = (await expressions()).flatMap(([where, expr]) =>
      readPromql(expr).metrics.map((metric) => [where, metric] as const),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, metric]) => !known.has(metric))).toEqual([]);
  });

  it("select and group by labels that somebody exposes", async () => {
    // Prometheus itself says where a sample comes from, and histograms have their bounds.
    const given = ["instance", "job", "le"];
    const known = new Set([...given, ...[...exposed, ...(await ofOthers())].flatMap(({ labels }) => [...labels])]);
    const named = (await expressions()).flatMap(([where, expr]) =>
      readPromql(expr).labels.map((label) => [where, label] as const),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(([, label]) => !known.has(label))).toEqual([]);
  });

  it("are in the documents, each alert with what to do", async () => {
    const page = await readFile(join(root, "docs/observability.md"), "utf8");
    const rules = load(await read("alerts.yaml")) as {
      readonly groups: readonly { readonly rules: readonly Rule[] }[];
    }; // checked here
    for (const { alert, labels, annotations } of rules.groups.flatMap((group) => group.rules)) {
      expect(page).toContain(`| \`${alert}\` |`);
      expect([labels, annotations]).toEqual([
        { severity: expect.stringMatching(/^(critical|warning)$/) },
        { summary: expect.any(String), description: expect.any(String) },
      ]);
    }
  });
});
