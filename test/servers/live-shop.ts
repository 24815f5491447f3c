import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "js-yaml";
import picocolors from "picocolors";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { runCli } from "../../lib/cli/program.ts";
import { startUpstream, type Upstream } from "../e2e/upstream.ts";
import { freePort } from "../free-port.ts";
import type { ApiServer } from "./api-server.ts";

const sample = new URL("../../samples/bookshop/", import.meta.url).pathname;

/** An API server takes no endpoint on the loopback: an address of this machine that others may know it by. */
function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === "IPv4");
  if (found === undefined) throw new Error("this machine has no address but the loopback");
  return found.address;
}

/** samples/bookshop in a real API server, with servers of this machine behind its pods. */
export interface LiveShop {
  /** Port of the gateway. */
  readonly port: number;
  readonly names: readonly string[];
  readonly servers: ReadonlyMap<string, Upstream>;
  /** `portolan apply --kube` of a file of the sample, changed. */
  apply(file: string, change: (text: string) => string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Who answers: the pods behind slices at this machine's address, which counts once for each service. */
const pods = [
  { pod: "catalog-v1-1", name: "catalog-v1", service: "catalog" },
  { pod: "reviews-v1-1", name: "reviews-v1", service: "reviews" },
];

/** And machines beside the cluster, which a service takes for its pods. */
const machines = [
  { name: "catalog-v1b", version: "v1", address: "127.0.0.12" },
  { name: "catalog-v2", version: "v2", address: "127.0.0.11" },
];

const pathOf = (pod: string) => `/api/v1/namespaces/bookshop/pods/${pod}`;

export async function openLiveShop(server: ApiServer): Promise<LiveShop> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-live-"));
  const address = ownAddress();
  const port = await freePort();
  const servers = new Map<string, Upstream>();
  const appPort = await freePort();
  for (const { name } of pods) servers.set(name, await startUpstream(name, 0, address));
  for (const machine of machines)
    servers.set(machine.name, await startUpstream(machine.name, appPort, machine.address));
  const texts = new Map<string, string>();
  for (const file of await readdir(sample)) {
    if (!file.endsWith(".yaml")) continue;
    const text = (await readFile(join(sample, file), "utf8"))
      .replaceAll("10080", String(port))
      .replaceAll("9080", String(appPort));
    // Slices are made below: their addresses are this machine's. So are those of the second version.
    const isKept = (document: string) => !/kind: EndpointSlice|name: catalog-v2-1/.test(document);
    const kept = text.split(/^---$/m).filter(isKept);
    // Pods by themselves: who changes a route makes no pod anew that was deleted.
    const isPod = (document: string) => /^kind: Pod$/m.test(document);
    texts.set(file, kept.filter((document) => !isPod(document)).join("---"));
    texts.set(`pods-${file}`, kept.filter(isPod).join("---"));
  }
  const slices = pods.map(({ pod, name, service }) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: pod, namespace: "bookshop", labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    endpoints: [
      {
        addresses: [address],
        conditions: { ready: true },
        targetRef: { kind: "Pod", name: pod, namespace: "bookshop" },
      },
    ],
    ports: [{ name: "http", port: servers.get(name)?.port, protocol: "TCP" }],
  }));
  const entries = machines.map(({ name, version, address: at }) => ({
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: { name, namespace: "bookshop" },
    spec: { address: at, labels: { app: "catalog", version } },
  }));
  texts.set("more.json", [...slices, ...entries].map((object) => JSON.stringify(object)).join("\n---\n"));
  for (const [file, text] of texts) await writeFile(join(folder, file), text);
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => void lines.push(line),
    err: (line: string) => void lines.push(line),
    colours: picocolors.createColors(false),
  };
  const applyAt = async (path: string): Promise<readonly string[]> => {
    lines.length = 0;
    const code = await runCli(["node", "portolan", "apply", "-f", path, "--kube"], terminal);
    if (code !== 0) throw new Error(lines.join("\n"));
    return [...lines];
  };
  await applyAt(folder);
  // A kubelet would say where the pods are.
  const found = fieldsOf(await server.ask("GET", "/api/v1/namespaces/bookshop/pods"));
  for (const item of Array.isArray(found.items) ? found.items : []) {
    const name = textOf(fieldsOf(fieldsOf(item).metadata).name);
    const ip = name === "istio-ingressgateway-1" ? "127.0.0.1" : address;
    const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
    await server.ask("PATCH", `${pathOf(name)}/status`, { status }, "application/merge-patch+json");
  }
  return {
    port,
    servers,
    names: [...pods, ...machines].map(({ name }) => name),
    async apply(file, change) {
      const path = join(folder, file);
      await writeFile(path, change(await readFile(path, "utf8")));
      return applyAt(path);
    },
    async close() {
      await Promise.all([...servers.values()].map((one) => one.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The manifests of infra/kubernetes, as objects. */
export async function manifests(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const folder = new URL("../../infra/kubernetes/", import.meta.url).pathname;
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml"));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts.flatMap((text) => text.split(/^---$/m)).map((text) => fieldsOf(load(text)));
}
