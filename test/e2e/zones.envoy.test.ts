import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { freePort } from "../free-port.ts";
import { agentFolder, clearAgent, startAgent } from "./agent-process.ts";
import { startDev } from "./dev-process.ts";
import { eventually, startEnvoy } from "./envoy.ts";
import { get } from "./sidecars.ts";
import { startUpstream } from "./upstream.ts";

const zones = ["a", "b"] as const;
const host = "books.shop.svc.cluster.local";

const node = (zone: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: `node-${zone}`,
    labels: { "topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": `eu-${zone}` },
  },
});

const service = (name: string, clusterIP: string, port: number, targetPort: number) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "shop" },
  spec: { clusterIP, selector: { app: name }, ports: [{ name: "http", port, targetPort }] },
});

/** A pod of a Deployment. @param annotations of one with a sidecar */
const pod = (app: string, zone: string, podIP: string, annotations?: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `${app}-abc-${zone}`,
    generateName: `${app}-abc-`,
    namespace: "shop",
    labels: {
      app,
      "pod-template-hash": "abc",
      ...(annotations === undefined ? {} : { "security.istio.io/tlsMode": "istio" }),
    },
    annotations,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: `${app}-abc`, controller: true }],
  },
  spec: { nodeName: `node-${zone}`, containers: [{ name: "app", image: "example/app" }] },
  status: { phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] },
});

const slice = (app: string, port: number, addresses: readonly string[]) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: app, namespace: "shop", labels: { "kubernetes.io/service-name": app } },
  addressType: "IPv4",
  endpoints: zones.map((zone, at) => ({
    addresses: [addresses[at]],
    conditions: { ready: true, terminating: false },
    nodeName: `node-${zone}`,
    targetRef: { kind: "Pod", name: `${app}-abc-${zone}`, namespace: "shop" },
  })),
  ports: [{ name: "http", port }],
});

/** Callers and books with a pod in each of two zones, and a rule that keeps calls in their zone. */
function mesh(appPort: number, port: number): readonly object[] {
  const annotations = {
    "sidecar.istio.io/interceptionMode": "NONE",
    "proxy.istio.io/config": 'proxyMetadata: {ISTIO_META_ENABLE_SELF_DISCOVERY: "true"}',
  };
  const [books, callers] = [
    ["127.0.0.21", "127.0.0.22"],
    ["127.0.0.31", "127.0.0.32"],
  ];
  return [
    ...zones.map(node),
    service("books", "10.96.0.21", port, appPort),
    service("callers", "10.96.0.31", port, appPort),
    ...zones.map((zone, at) => pod("books", zone, books?.[at] ?? "")),
    ...zones.map((zone, at) => pod("callers", zone, callers?.[at] ?? "", annotations)),
    slice("books", appPort, books ?? []),
    slice("callers", appPort, callers ?? []),
    {
      apiVersion: "networking.istio.io/v1",
      kind: "DestinationRule",
      metadata: { name: "books", namespace: "shop" },
      spec: { host, trafficPolicy: { loadBalancer: { zoneAwareLbSetting: { enabled: true, minClusterSize: 1 } } } },
    },
    {
      apiVersion: "networking.istio.io/v1",
      kind: "Sidecar",
      metadata: { name: "callers", namespace: "shop" },
      spec: {
        workloadSelector: { labels: { app: "callers" } },
        egress: [{ bind: "127.0.0.1", port: { number: port, name: "http", protocol: "HTTP" }, hosts: ["shop/*"] }],
      },
    },
  ];
}

const closing: (() => unknown)[] = [];
let folder = "";
let url = "";
let grpcUrl = "";
let port = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-zones-"));
  const appPort = await freePort();
  port = await freePort();
  const servers = await Promise.all(zones.map((zone, at) => startUpstream(zone, appPort, `127.0.0.2${at + 1}`)));
  const text = mesh(appPort, port).map((object) => JSON.stringify(object));
  await writeFile(join(folder, "shop.yaml"), text.join("\n---\n"));
  const dev = await startDev(folder, ["--grpc-port", "0", "--certificates", "none"]);
  ({ url, grpcUrl } = dev);
  closing.push(dev.stop, ...servers.map((server) => server.close), () => rm(folder, { recursive: true, force: true }));
});

afterAll(async () => {
  for (const close of closing) await close();
});

const caller = async (server: string, transport: "rest" | "delta" | "sotw", metadata: object = {}) => {
  const found = proxiesIn(await readFolder(folder)).find(({ proxy }) => proxy.id === "callers-abc-a.shop");
  if (found === undefined) throw new Error("the callers have a pod in zone a");
  const { node } = found;
  const told = { ...found, node: { ...node, metadata: { ...node.metadata, ...metadata } } };
  return bootstrapFor(told, server, 0, { certificates: "none", transport });
};

const call = async () => (await get({ host: "127.0.0.1", port, path: "/", headers: { host } })).body;

/** Who answers forty calls, from the moment that the caller's proxy takes them. */
async function answers(): Promise<ReadonlySet<string>> {
  await eventually(
    () => call().catch(() => ""),
    (body) => zones.some((zone) => zone === body),
    30_000,
  );
  const seen = new Set<string>();
  for (let made = 0; made < 40; made++) seen.add(await call());
  return seen;
}

describe("a rule that balances by zone, with the bootstrap that is written for a pod", () => {
  it.each(["rest", "delta", "sotw"] as const)("keeps calls in the caller's zone over %s", async (transport) => {
    const envoy = await startEnvoy(await caller(transport === "rest" ? url : grpcUrl, transport));
    onTestFinished(envoy.stop);
    expect(await answers()).toEqual(new Set(["a"]));
    expect(Number(await envoy.stat(`cluster.outbound|${port}||${host};.lb_zone_routing_all_directly`))).toBeGreaterThan(
      0,
    );
    expect(await envoy.admin("/clusters?filter=local_cluster")).toContain("127.0.0.32");
  });

  it("sends them everywhere where the proxy does not ask for those that are like it", async () => {
    const envoy = await startEnvoy(await caller(url, "rest", { ENABLE_SELF_DISCOVERY: "false" }));
    onTestFinished(envoy.stop);
    expect(await answers()).toEqual(new Set(zones));
  });

  it("keeps them there behind an agent", async () => {
    const agent = await startAgent({
      bootstrap: await caller(url, "rest"),
      folder: await agentFolder(),
      args: ["--server", url],
    });
    onTestFinished(async () => {
      await agent.end("SIGTERM");
      await clearAgent(agent.folder);
    });
    await eventually(
      () => agent.stat(`cluster.local_cluster.membership_total`),
      (total) => total === "2",
      30_000,
    );
    expect(await answers()).toEqual(new Set(["a"]));
  });
});
