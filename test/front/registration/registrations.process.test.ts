import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { createRegistrations, healthUrl } from "../../../lib/front/registration/registrations.ts";
import { registeredMs, registeredPrefix } from "../../../lib/snapshot/nodes/registered.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { filesOf, networking } from "../../compile/pods/manifests.ts";
import { eventually } from "../../e2e/envoy.ts";
import { pollBody, testFront } from "../fixtures.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "legacy", namespace: "shop" },
  spec: { clusterIP: "10.96.0.9", selector: { app: "legacy" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
};
const entry = networking("ServiceEntry", "legacy", {
  hosts: ["legacy.example"],
  location: "MESH_INTERNAL",
  resolution: "STATIC",
  ports: [{ number: 80, name: "http", protocol: "HTTP", targetPort: 8080 }],
  workloadSelector: { labels: { app: "legacy" } },
});
const group = (probe: object = {}) =>
  networking("WorkloadGroup", "legacy", {
    metadata: { labels: { app: "legacy" } },
    template: { serviceAccount: "vm", weight: 7 },
    ...probe,
  });
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", namespace: "shop", labels: { app: "web", "security.istio.io/tlsMode": "istio" } },
  spec: { serviceAccountName: "web", containers: [] },
  status: { phase: "Running", podIP: "10.1.0.1", podIPs: [{ ip: "10.1.0.1" }] },
};
const client = { id: "sidecar~10.1.0.1~web-0.shop~shop.svc.cluster.local", cluster: "web.shop", metadata: {} };

/** A mesh with a group, a server that registers machines, and what a client is told of the group's service. */
async function meshWith(objects: readonly object[] = [group()]) {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const store = memoryStore(now);
  await writeShard(store, "main", filesOf([service, entry, pod, ...objects]));
  const recompile = createWorldRecompiler({ store, world: { ...defaultWorldOptions, binaryForms: true }, now });
  await recompile();
  const registrations = createRegistrations({
    store,
    server: "one",
    trigger: recompile,
    graceMs: 30,
    settleMs: 1,
    onError: (cause) => expect.unreachable(String(cause)),
  });
  const authentication = authenticateBy("test", [
    ({ header }) => {
      const serviceAccount = header("x-account");
      if (serviceAccount === undefined) return identified({ kind: "operator", subject: "test" });
      return identified({ kind: "node", subject: serviceAccount, namespace: "shop", serviceAccount });
    },
  ]);
  const test = testFront({ store, registrations, authentication, now });
  const server = await serveGrpc(test.front, 0);
  closing.push(registrations.close, server.close, test.front.close);
  const endpoints = async (): Promise<readonly string[]> => {
    const response = await test.poll("clusters", pollBody("clusters", client));
    const text = await response.text();
    expect(text).toContain("legacy.example");
    // The Service and the ServiceEntry both select them.
    return [...new Set([...text.matchAll(/"address":"(10\.2\.[\d.]+)"/g)].map(([, address]) => address ?? ""))];
  };
  const records = async (): Promise<number> => {
    let count = 0;
    for await (const _ of store.list(registeredPrefix)) count += 1;
    return count;
  };
  const until = (wanted: readonly string[]) =>
    eventually(endpoints, (found) => JSON.stringify(found) === JSON.stringify(wanted));
  return {
    url: server.url,
    store,
    recompile,
    endpoints,
    records,
    until,
    later: (ms: number) => {
      aheadMs += ms;
    },
  };
}

/** A machine's agent: one stream, which says what is put into it. */
function machine(url: string, serviceAccount: string, address = "10.2.0.1") {
  const ending = new AbortController();
  const said: object[] = [];
  let wake = () => {};
  async function* requests() {
    const node = {
      id: `sidecar~${address}~vm-1.shop~shop.svc.cluster.local`,
      metadata: { NAMESPACE: "shop", AUTO_REGISTER_GROUP: "legacy", LABELS: { app: "payments" } },
    };
    yield { node, typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster" };
    while (!ending.signal.aborted) {
      for (let next = said.shift(); next !== undefined; next = said.shift()) yield next;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const transport = createGrpcTransport({ baseUrl: url });
  const answers = createClient(AggregatedDiscoveryService, transport).streamAggregatedResources(requests(), {
    headers: { "x-account": serviceAccount },
    signal: ending.signal,
  });
  const heard = (async () => {
    for await (const _ of answers);
  })().catch(() => {});
  return {
    health(isHealthy: boolean) {
      said.push({ typeUrl: healthUrl, ...(isHealthy ? {} : { errorDetail: { code: 500, message: "no answer" } }) });
      wake();
    },
    async end() {
      ending.abort();
      wake();
      await heard;
    },
  };
}

describe("a machine that registers itself for a WorkloadGroup", () => {
  it("has an endpoint while it is connected, by its group's labels and not by those that it says", async () => {
    const mesh = await meshWith();
    expect(await mesh.endpoints()).toEqual([]);
    const vm = machine(mesh.url, "vm");
    await mesh.until(["10.2.0.1"]);
    await vm.end();
    await mesh.until([]);
  });

  it("has none for another service account than the group's, and the compile says so", async () => {
    const mesh = await meshWith();
    const vm = machine(mesh.url, "web");
    await eventually(mesh.records, (count) => count === 1);
    const { diagnostics } = await mesh.recompile();
    expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toContainEqual(
      expect.stringMatching(/^registration-refused: WorkloadGroup legacy is for the service account vm, .* proven web/),
    );
    expect(await mesh.endpoints()).toEqual([]);
    await vm.end();
  });

  it("counts, where the group has a probe, only while its agent finds it healthy", async () => {
    const mesh = await meshWith([group({ probe: { tcpSocket: { port: 8080 } } })]);
    const vm = machine(mesh.url, "vm");
    await eventually(mesh.records, (count) => count === 1);
    await mesh.recompile();
    expect(await mesh.endpoints()).toEqual([]);
    vm.health(true);
    await mesh.until(["10.2.0.1"]);
    vm.health(false);
    await mesh.until([]);
    await vm.end();
  });

  it("stays while it comes back within the grace time, and goes by itself where its server has gone", async () => {
    const mesh = await meshWith();
    const first = machine(mesh.url, "vm");
    await mesh.until(["10.2.0.1"]);
    const second = machine(mesh.url, "vm");
    await first.end();
    await mesh.recompile();
    expect(await mesh.endpoints()).toEqual(["10.2.0.1"]);
    // Nobody has written the record since.
    mesh.later(registeredMs + 1);
    await mesh.recompile();
    await mesh.until([]);
    await second.end();
  });
});
