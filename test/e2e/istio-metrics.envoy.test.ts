import { execFile, execFileSync, spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { dump, load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../free-port.ts";
import { lacks } from "../skip.ts";
import { eventually } from "./envoy.ts";
import { type RunningSample, startSample } from "./sample.ts";

const isThere = (program: string): boolean => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const hasPrometheus = isThere("prometheus");

const closing: (() => unknown)[] = [];
let sample: RunningSample;
let port = 0;
let url = "";

interface ScrapeJob {
  readonly [field: string]: unknown;
}

/** The recipe's own job, for two Envoys that are named, with what Kubernetes says of pods, in place of pods that are looked up. */
async function jobFor(targets: readonly (readonly [string, string])[]): Promise<ScrapeJob> {
  const file = new URL("../../infra/observability/istio-metrics.yaml", import.meta.url);
  const { scrape_configs } = Object(load(await readFile(file, "utf8")));
  const { kubernetes_sd_configs: _pods, relabel_configs: rules, ...job } = scrape_configs[0];
  return {
    ...job,
    // An address has one port of a number, and both are on this machine.
    relabel_configs: rules.filter((rule: ScrapeJob) => rule.target_label !== "__address__"),
    scrape_interval: "1s",
    static_configs: targets.map(([app, target]) => ({
      targets: [target],
      labels: {
        __meta_kubernetes_namespace: "mtls",
        __meta_kubernetes_pod_name: `${app}-7d4b9c6f5d-x2x9k`,
        __meta_kubernetes_pod_controller_kind: "ReplicaSet",
        __meta_kubernetes_pod_controller_name: `${app}-7d4b9c6f5d`,
        __meta_kubernetes_pod_annotation_prometheus_io_port: "15090",
        __meta_kubernetes_pod_label_app: app,
        __meta_kubernetes_pod_label_version: "v1",
      },
    })),
  };
}

/** Ports of its own: other tests run the sample as well. */
async function copyOfSample(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-sample-"));
  await cp(new URL("../../samples/mtls", import.meta.url), folder, { recursive: true });
  const [appPort, innerPort] = [String(await freePort()), String(await freePort())];
  port = await freePort();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const text = await readFile(path, "utf8");
    await writeFile(
      path,
      text.replaceAll("10080", String(port)).replaceAll("9080", appPort).replaceAll("9081", innerPort),
    );
  }
  await writeFile(
    join(folder, "mesh.yaml"),
    "inboundClusterStatName: inbound|%SERVICE_PORT%|%SERVICE_PORT_NAME%|%SERVICE_FQDN%\n",
  );
  return folder;
}

async function startPrometheus(jobs: readonly ScrapeJob[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-prometheus-"));
  const file = join(directory, "prometheus.yml");
  await writeFile(file, dump({ scrape_configs: jobs }));
  const address = `127.0.0.1:${await freePort()}`;
  url = `http://${address}`;
  const process = spawn(
    "prometheus",
    [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, "data")}`, `--web.listen-address=${address}`],
    { stdio: "ignore" },
  );
  const ended = new Promise((resolve) => process.once("exit", resolve));
  closing.unshift(async () => {
    process.kill("SIGTERM");
    await ended;
    await rm(directory, { recursive: true, force: true });
  });
}

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

async function query(text: string): Promise<readonly Found[]> {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`).catch(() => undefined);
  if (response?.ok !== true) return [];
  const { data } = Object(await response.json());
  return data.result;
}

/** Of what an answer holds, each once. */
const pick = (found: readonly Found[], ...labels: readonly string[]) =>
  found.map(({ metric }) => Object.fromEntries(labels.map((label) => [label, metric[label]])));

const send = (path: string) =>
  promisify(execFile)("curl", ["-s", "-H", "host: shop.example.com", `http://127.0.0.1:${port}${path}`]);

beforeAll(async () => {
  if (!hasPrometheus) return;
  const folder = await copyOfSample();
  closing.push(() => rm(folder, { recursive: true, force: true }));
  sample = await startSample(folder, { extras: { statsTags: true } });
  closing.unshift(sample.close);
  const targets = sample.proxies.map(
    (id, at) => [id.split("-")[0] ?? "", new URL(sample.envoys[at]?.adminUrl ?? "").host] as const,
  );
  await startPrometheus([await jobFor(targets)]);
  for (let times = 0; times < 5; times += 1) await send("/orders");
  await send("/admin");
  await eventually(
    () => query("istio_requests_total"),
    (found) => found.length >= 3,
    30_000,
  );
  // A rate takes two samples: traffic after the first one.
  for (let times = 0; times < 5; times += 1) await send("/orders");
}, 120_000);

afterAll(async () => {
  for (const close of closing) await close();
});

/** Labels without which Kiali leaves a series out (`graph/telemetry/istio/istio.go`). */
const required =
  "source_workload_namespace source_workload source_canonical_service source_canonical_revision destination_service_namespace destination_service destination_service_name destination_workload_namespace destination_workload destination_canonical_service destination_canonical_revision request_protocol response_code response_flags".split(
    " ",
  );

const isKnown = (label: string | undefined): boolean => label !== undefined && label !== "" && label !== "unknown";

/** Why Kiali would leave a series out of its graph (`IsBadSourceTelemetry` and `IsBadDestTelemetry`); empty: it is an edge. */
function leftOut({ metric }: Found): readonly string[] {
  const { source_cluster: from, destination_cluster: written, destination_service_namespace: space } = metric;
  const absent = required.filter((label) => metric[label] === undefined);
  const isKnownSource = isKnown(metric.source_workload_namespace);
  const isNamed = isKnown(metric.source_workload) || isKnown(metric.source_canonical_service);
  const to = !isKnown(written) && isKnown(from) && isKnown(space) ? from : written;
  return [
    ...absent.map((label) => `no label ${label}`),
    ...(isKnownSource && !isNamed ? ["a namespace without workload and app"] : []),
    ...(isKnownSource && from !== undefined && !isKnown(from) ? ["a source in no cluster"] : []),
    ...(isKnown(space) && to !== undefined && !isKnown(to) ? ["a service in no cluster"] : []),
  ];
}

const by =
  "source_cluster,source_workload_namespace,source_workload,source_canonical_service,source_canonical_revision," +
  "destination_cluster,destination_service_namespace,destination_service,destination_service_name," +
  "destination_workload_namespace,destination_workload,destination_canonical_service,destination_canonical_revision," +
  "request_protocol,response_code,grpc_response_status,response_flags";

describe.skipIf(lacks(hasPrometheus, "Prometheus: apt-get install prometheus, on Debian"))(
  "Istio's metrics of stock Envoys, in a real Prometheus",
  () => {
    it("show Kiali's graph who calls which service, with what result", async () => {
      const text = `sum(rate(istio_requests_total{reporter="source",source_workload_namespace="mtls"}[30s])) by (${by}) > 0`;
      const found = await eventually(
        () => query(text),
        (edges) => edges.length > 0,
        30_000,
      );
      expect(
        pick(found, "source_workload", "destination_service", "destination_service_name", "response_code"),
      ).toEqual([
        {
          source_workload: "gateway",
          destination_service: "orders.mtls.svc.cluster.local",
          destination_service_name: "orders",
          response_code: "200",
        },
      ]);
      expect(pick(found, "destination_service_namespace", "destination_workload", "request_protocol")).toEqual([
        { destination_service_namespace: "mtls", destination_workload: "unknown", request_protocol: "http" },
      ]);
    });

    it.each([
      ["from outside", 'reporter="destination",source_workload="unknown",destination_workload_namespace="mtls"'],
      [
        "from another namespace",
        'reporter="source",source_workload_namespace!="other",source_workload!="unknown",destination_service_namespace="mtls"',
      ],
      ["of a namespace", 'reporter="source",source_workload_namespace="mtls"'],
    ])("have all that Kiali asks of an edge of its graph: %s", async (_, labels) => {
      const found = await eventually(
        () => query(`round(sum(rate(istio_requests_total{${labels}}[30s])) by (${by}),0.001) > 0`),
        (edges) => edges.length > 0,
        30_000,
      );
      expect(found.map(leftOut)).toEqual(found.map(() => []));
    });

    it.each([
      [
        "a service",
        'destination_service_name="orders",destination_service_namespace="mtls"',
        ["source", "destination"],
      ],
      ["a workload, inbound", 'destination_workload_namespace="mtls",destination_workload="orders"', ["destination"]],
      ["a workload, outbound", 'source_workload_namespace="mtls",source_workload="gateway"', ["source"]],
    ])("give Kiali the health of %s", async (_, labels, reporters) => {
      const found = await eventually(
        () => query(`rate(istio_requests_total{${labels}}[30s]) > 0`),
        (rates) => reporters.every((one) => rates.some(({ metric }) => metric.reporter === one)),
        30_000,
      );
      expect(
        found.filter(({ metric }) => metric.response_code === undefined || metric.request_protocol !== "http"),
      ).toEqual([]);
    });

    it("count what was refused where it was seen, as the client sees it", async () => {
      const found = await query(`istio_requests_total{reporter="source",response_code="403"}`);
      const who = pick(found, "source_app", "source_version", "source_workload");
      expect([who, found.map(({ value }) => value[1])]).toEqual([
        [{ source_app: "gateway", source_version: "v1", source_workload: "gateway" }],
        ["1"],
      ]);
    });

    it("show a workload's own traffic, by its service", async () => {
      const text =
        'sum(istio_requests_total{reporter="destination",destination_workload="orders",destination_workload_namespace="mtls"})' +
        " by (destination_service,destination_canonical_service,source_workload,response_code)";
      const found = await query(text);
      expect(found.map(({ metric }) => metric)).toEqual([
        {
          destination_service: "orders.mtls.svc.cluster.local",
          destination_canonical_service: "orders",
          source_workload: "unknown",
          response_code: "200",
        },
      ]);
      expect(Number(found[0]?.value[1])).toBeGreaterThanOrEqual(5);
    });

    it("have latencies, as Istio's dashboards ask for them", async () => {
      const text =
        'histogram_quantile(0.99, sum(rate(istio_request_duration_milliseconds_bucket{reporter="source",' +
        'destination_service=~"orders.mtls.svc.cluster.local"}[30s])) by (le))';
      const found = await eventually(
        () => query(text),
        ([one]) => one !== undefined && Number(one.value[1]) > 0,
        30_000,
      );
      expect(Number(found[0]?.value[1])).toBeLessThan(30_000);
    });
  },
);
