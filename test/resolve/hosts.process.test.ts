import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { lookupFacts, lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { createNodeDns } from "../../lib/resolve/node-dns.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { resolvingCompiler } from "../../lib/resolve/resolving-compiler.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { readHistory } from "../../lib/snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { type NameServer, openNameServer } from "./name-server.ts";

const second = 1_000;
const host = "gw.net2.example";

let names: NameServer;
beforeAll(async () => {
  names = await openNameServer();
});
afterAll(() => names.close());
beforeEach(() => names.fail(undefined));

const pod = (name: string, ip: string, network: string) => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: shop
  labels: { app: ${name}, security.istio.io/tlsMode: istio, topology.istio.io/network: ${network} }
spec: { containers: [{ name: web, ports: [{ containerPort: 80 }] }] }
status: { phase: Running, podIP: ${ip}, podIPs: [{ ip: ${ip} }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: 10.9.0.${ip.split(".").at(-1)}, selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
`;
const base = `${pod("client", "10.0.0.1", "net1")}---\n${pod("server", "10.1.0.2", "net2")}`;

/** What names the gateway of the second network. */
const namings = {
  MeshNetworks: { "networks.yaml": `networks: { net2: { gateways: [{ address: ${host}, port: 15443 }] } }\n` },
  Service: {
    "gateway.yaml": `apiVersion: v1
kind: Service
metadata: { name: eastwest, namespace: istio-system, labels: { topology.istio.io/network: net2 } }
spec: { type: LoadBalancer, clusterIP: 10.9.9.9, ports: [{ name: tls, port: 15443 }] }
status: { loadBalancer: { ingress: [{ hostname: ${host} }] } }
`,
  },
  Gateway: {
    "gateway.yaml": `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: eastwest, namespace: istio-system, labels: { topology.istio.io/network: net2 } }
spec:
  gatewayClassName: istio-remote
  addresses: [{ type: Hostname, value: ${host} }]
  listeners:
    - { name: plain, port: 15012, protocol: TLS, tls: { mode: Passthrough } }
    - { name: cross-network, port: 15443, protocol: TLS, tls: { mode: Passthrough } }
`,
  },
} as const;

function openMesh(naming: keyof typeof namings = "MeshNetworks") {
  const store = memoryStore();
  let nowMs = Date.now();
  const none: ReadonlySet<string> = new Set();
  const resolve = createResolver({
    store,
    fetch: createNodeFetch({ allowedHosts: none }),
    askDns: createNodeDns([names.address]),
    allowedHosts: none,
    withinMs: 2_000,
    now: () => nowMs,
  });
  const leased = createLeasedCompiler({ store, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });
  const front = frontApp(createFront({ store }));
  const node = {
    id: "sidecar~10.0.0.1~client.shop~shop.svc.cluster.local",
    cluster: "client.shop",
    metadata: { NAMESPACE: "shop", NETWORK: "net1", LABELS: { app: "client" } },
  };
  return {
    store,
    resolve,
    compile: () => compile(),
    now: () => nowMs,
    pass(ms: number) {
      nowMs += ms;
    },
    async push(files: Readonly<Record<string, string>> = namings[naming]) {
      const written = { "base.yaml": base, ...files };
      await writeShard(
        store,
        "main",
        Object.entries(written).map(([file, text]) => ({ file, text })),
      );
      return compile({ by: "somebody" });
    },
    /** Where a client in the first network finds the server in the second. */
    async reachedAt(): Promise<readonly string[]> {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ node });
      const answer = await front.request("/v3/discovery:clusters", { method: "POST", headers, body });
      const lines = (await answer.text()).split("\n");
      // An Envoy that polls has endpoints in its clusters.
      const text = lines.find((line) => line.includes('"name":"outbound|80||server.shop')) ?? "";
      return [...text.matchAll(/"address":"([^"]+)","portValue":(\d+)/g)].map(([, ip, port]) => `${ip}:${port}`);
    },
    async report() {
      return (await lookupReports(store)).find(({ kind }) => kind === "host");
    },
  };
}

describe("a network gateway that is given by host name", () => {
  it.each(["MeshNetworks", "Service", "Gateway"] as const)(
    "has the addresses of DNS with the push that names it (%s)",
    async (naming) => {
      names.set(host, ["192.0.2.9", "192.0.2.10"], 60);
      const mesh = openMesh(naming);
      const { diagnostics } = await mesh.push();
      expect(diagnostics).toEqual([]);
      expect(await mesh.reachedAt()).toEqual(["192.0.2.10:15443", "192.0.2.9:15443"]);
      expect(await mesh.report()).toMatchObject({ of: host, state: "fresh", addresses: ["192.0.2.10", "192.0.2.9"] });
    },
  );

  it.each([
    ["MeshNetworks", "networks.yaml"],
    ["Service", "gateway.yaml"],
    ["Gateway", "gateway.yaml"],
  ] as const)(
    "is left out while nothing is known of it, and a diagnostic says where it is named (%s)",
    async (naming, file) => {
      names.fail("SERVFAIL");
      const mesh = openMesh(naming);
      const { diagnostics } = await mesh.push();
      expect(diagnostics).toMatchObject([
        {
          code: "gateway-host-not-resolved",
          severity: "warning",
          origin: { file },
          message: expect.stringContaining(host),
        },
      ]);
      // As without a gateway: directly.
      expect(await mesh.reachedAt()).toEqual(["10.1.0.2:80"]);
      expect(await mesh.report()).toMatchObject({ state: "missing", problem: expect.stringContaining("ESERVFAIL") });
      names.fail(undefined);
      names.set(host, ["192.0.2.9"]);
      mesh.pass(16 * second);
      expect((await mesh.compile()).diagnostics).toEqual([]);
      expect(await mesh.reachedAt()).toEqual(["192.0.2.9:15443"]);
    },
  );

  it("is asked for again when its records count no more, and other addresses are another version", async () => {
    names.set(host, ["192.0.2.1"], 30);
    const mesh = openMesh();
    const { version } = await mesh.push();
    const asked = names.asked.length;
    mesh.pass(29 * second);
    names.set(host, ["192.0.2.2"], 30);
    expect((await mesh.compile()).version).toBe(version);
    expect(names.asked.length).toBe(asked);
    expect(await mesh.resolve()).toMatchObject({ nextInMs: second });
    mesh.pass(second);
    expect((await mesh.compile()).version).not.toBe(version);
    expect(names.asked.length).toBe(asked + 2);
    expect(await mesh.reachedAt()).toEqual(["192.0.2.2:15443"]);
    const publication = (await readHead(mesh.store))?.head.publication ?? "";
    for await (const entry of readHistory(createSnapshotReader(mesh.store), publication)) {
      expect(entry).toMatchObject({ by: "resolver", why: `addresses of ${host}` });
      break;
    }
  });

  it("is the same version whatever remains of its time, and in whatever order its addresses come", async () => {
    names.set(host, ["192.0.2.1", "192.0.2.2"], 30);
    const mesh = openMesh();
    const { version } = await mesh.push();
    for (const [addresses, ttl] of [
      [["192.0.2.2", "192.0.2.1"], 30],
      [["192.0.2.1", "192.0.2.2"], 17],
    ] as const) {
      names.set(host, addresses, ttl);
      mesh.pass(31 * second);
      expect((await mesh.compile()).version).toBe(version);
    }
  });

  it("makes three versions, and then no more, where DNS answers in turns", async () => {
    const mesh = openMesh();
    const versions: string[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      names.set(host, [turn % 2 === 0 ? "192.0.2.1" : "192.0.2.2"], 5);
      const { version } = await (turn === 0 ? mesh.push() : mesh.compile());
      if (versions.at(-1) !== version) versions.push(version);
      mesh.pass(10 * second);
    }
    expect(versions).toHaveLength(3);
    expect(await mesh.reachedAt()).toEqual(["192.0.2.1:15443", "192.0.2.2:15443"]);
  });

  it("keeps its last addresses however long DNS fails or has none, and says since when", async () => {
    names.set(host, ["192.0.2.1"]);
    const mesh = openMesh();
    await mesh.push();
    const at = mesh.now();
    for (const trouble of [() => names.fail("SERVFAIL"), () => names.fail(undefined), () => names.fail("nothing")]) {
      names.set(host, []);
      trouble();
      mesh.pass(3_600 * second);
      expect((await mesh.compile()).diagnostics).toEqual([]);
      expect(await mesh.reachedAt()).toEqual(["192.0.2.1:15443"]);
    }
    expect(await mesh.report()).toMatchObject({ state: "stale", fetchedAt: new Date(at).toISOString() });
    expect(await lookupFacts(mesh.store, mesh.now)).toEqual([{ kind: "host", host, ageSeconds: 3 * 3_600, failed: 3 }]);
    // Asked again within a minute, however often that has failed.
    expect((await mesh.resolve()).nextInMs).toBeLessThanOrEqual(60 * second);
  }, 30_000);

  it("goes on from the source where its state is lost", async () => {
    names.set(host, ["192.0.2.1"]);
    const mesh = openMesh();
    await mesh.push();
    await mesh.store.delete("compile/resolved");
    names.fail("SERVFAIL");
    await mesh.compile();
    expect(await mesh.reachedAt()).toEqual(["192.0.2.1:15443"]);
  });

  it("does not count from another source, nor for what is no name", async () => {
    names.fail("SERVFAIL");
    const mesh = openMesh();
    const resolved = { resolved: { hosts: [{ host, addresses: ["203.0.113.66"] }] } };
    await mesh.push({ ...namings.MeshNetworks, "portolan.yaml": JSON.stringify(resolved) });
    expect(await mesh.reachedAt()).toEqual(["10.1.0.2:80"]);
    const before = names.asked.length;
    await mesh.push({ "gateway.yaml": namings.Service["gateway.yaml"].replace(host, "no name") });
    expect(names.asked.length).toBe(before);
  });

  it("is no host name of a service of the mesh, whose own addresses count", async () => {
    names.fail("SERVFAIL");
    const mesh = openMesh();
    const service = namings.Service["gateway.yaml"].replace(`hostname: ${host}`, "ip: 192.0.2.4");
    const gateway = namings.Gateway["gateway.yaml"].replace(host, "eastwest.istio-system.svc.cluster.local");
    expect((await mesh.push({ "gateway.yaml": `${service}---\n${gateway}` })).diagnostics).toEqual([]);
    expect(await mesh.reachedAt()).toEqual(["192.0.2.4:15443"]);
  });
});
