/** Another network behind a gateway that is given by host name, which moves while traffic goes through it. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { createNodeDns } from "../../lib/resolve/node-dns.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { resolvingCompiler } from "../../lib/resolve/resolving-compiler.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { freePort } from "../free-port.ts";
import { openNameServer } from "../resolve/name-server.ts";
import { rejections } from "./bookshop.ts";
import { createAuthority, issueIdentity } from "./certificates.ts";
import { startEnvoy } from "./envoy.ts";
import { startIdentityAgent } from "./identity-agent.ts";
import { failures, movedTo, startTraffic, type Traffic } from "./traffic.ts";

const second = 1_000;
const gatewayHost = "gw.net2.example";
const service = "server.shop.svc.cluster.local";

const workload = (name: string, ip: string, network: string, port: number) => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: shop
  labels: { app: ${name}, security.istio.io/tlsMode: istio, topology.istio.io/network: ${network} }
spec: { serviceAccountName: ${name}, containers: [{ name: app, ports: [{ containerPort: ${port} }] }] }
status: { phase: Running, podIP: ${ip}, podIPs: [{ ip: ${ip} }], conditions: [{ type: Ready, status: "True" }] }
`;

/** The client's listener is where the test asks; nothing is at the server's own address. */
const objects = (port: number) => `${workload("client", "127.0.0.1", "net1", port)}---
${workload("server", "192.0.2.200", "net2", port)}---
apiVersion: v1
kind: Service
metadata: { name: server, namespace: shop }
spec: { clusterIP: 10.9.0.1, selector: { app: server }, ports: [{ name: http, port: ${port} }] }
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: shop }
spec:
  workloadSelector: { labels: { app: client } }
  egress: [{ port: { number: ${port}, name: http, protocol: HTTP }, bind: 127.0.0.1, captureMode: NONE, hosts: ["./*"] }]
`;

/**
 * The far end: a gateway of the network and the server behind it in one, which is sent the mesh's own mutual TLS and the name of the
 * service in it, as a gateway that passes connections on is.
 */
async function openGateway(name: string, address: string, port: number, identity: string, authority: string) {
  const [cert, key, ca] = await Promise.all(
    [join(identity, "cert.pem"), join(identity, "key.pem"), authority].map((file) => readFile(file)),
  );
  const server = createServer(
    { cert, key, ca, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ["istio", "http/1.1"] },
    (request, response) => {
      // A server of HTTPS has no other sockets.
      const { servername } = request.socket as TLSSocket;
      response.end(servername === `outbound_.${port}_._.${service}` ? name : `asked for ${String(servername)}`);
    },
  );
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
}

async function openNetworks(transport: "poll" | "delta") {
  const scratch = await mkdtemp(join(tmpdir(), "portolan-networks-"));
  const [port, names] = await Promise.all([freePort(), openNameServer()]);
  const authority = createAuthority(join(scratch, "ca"));
  const identityOf = (account: string) => issueIdentity(authority, `spiffe://cluster.local/ns/shop/sa/${account}`);
  const server = identityOf("server");
  const first = await openGateway("first", "127.0.0.21", port, server, authority);
  const second = await openGateway("second", "127.0.0.22", port, server, authority);

  const store = memoryStore();
  let aheadMs = 0;
  const none: ReadonlySet<string> = new Set();
  const resolve = createResolver({
    store,
    fetch: createNodeFetch({ allowedHosts: none }),
    askDns: createNodeDns([names.address]),
    allowedHosts: none,
    withinMs: 5_000,
    now: () => Date.now() + aheadMs,
  });
  const world = { ...defaultWorldOptions, binaryForms: true };
  const leased = createLeasedCompiler({ store, world, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });
  const front = createFront({ store, maxHoldMs: 1_000 });
  const polls = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  const streams = await serveGrpc(front, 0, "127.0.0.1");
  const files = [
    { file: "shop.yaml", text: objects(port) },
    {
      file: "networks.yaml",
      text: `networks: { net2: { gateways: [{ address: ${gatewayHost}, port: ${port} }] } }\n`,
    },
  ];
  names.set(gatewayHost, ["127.0.0.21"], 10);
  await writeShard(store, "main", files);
  await compile();

  const client = proxiesIn(files).find(({ proxy }) => proxy.id.startsWith("client."));
  if (client === undefined) throw new Error("the client is a proxy");
  const agent = await startIdentityAgent(scratch, identityOf("client"));
  const bootstrap =
    transport === "poll" ? bootstrapFor(client, polls.url, 0) : bootstrapFor(client, streams.url, 0, { transport });
  const envoy = await startEnvoy(bootstrap, scratch);
  return {
    port,
    names,
    envoy,
    /** Ends a gateway, so that whoever still goes there fails. */
    closeFirst: first,
    report: async () => (await lookupReports(store))[0],
    async pass(ms: number) {
      aheadMs += ms;
      return compile();
    },
    async close() {
      await envoy.stop();
      await Promise.all([agent.stop(), polls.close(), streams.close(), first(), second()]);
      front.close();
      names.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

describe.each(["poll", "delta"] as const)(
  "an Envoy (%s) with a gateway of another network by host name",
  (transport) => {
    let networks: Awaited<ReturnType<typeof openNetworks>>;
    let traffic: Traffic;

    beforeAll(async () => {
      networks = await openNetworks(transport);
      traffic = startTraffic(networks.port, service);
    }, 60_000);
    afterAll(async () => {
      await traffic?.stop();
      await networks?.close();
    });

    it("goes through the gateway at the address that DNS has", async () => {
      await movedTo(traffic, "first");
    }, 60_000);

    it("follows the gateway to another address, and no request fails", async () => {
      traffic.reset();
      networks.names.set(gatewayHost, ["127.0.0.22"], 10);
      await networks.pass(11 * second);
      // Not `movedTo`, which forgets what came before.
      await expect.poll(() => traffic.counts().get("second") ?? 0, { timeout: 30_000 }).toBeGreaterThan(100);
      expect(failures(traffic, ["first", "second"])).toEqual(new Map());
      await movedTo(traffic, "second");
      await networks.closeFirst();
      traffic.reset();
      await expect.poll(() => traffic.counts().get("second") ?? 0, { timeout: 30_000 }).toBeGreaterThan(100);
      expect([...traffic.counts().keys()]).toEqual(["second"]);
    }, 90_000);

    it("goes on through an hour without DNS", async () => {
      traffic.reset();
      networks.names.fail("SERVFAIL");
      for (let passed = 0; passed < 60; passed += 20) await networks.pass(20 * 60 * second);
      await expect.poll(() => traffic.counts().get("second") ?? 0, { timeout: 30_000 }).toBeGreaterThan(100);
      expect([...traffic.counts().keys()]).toEqual(["second"]);
      expect(await networks.report()).toMatchObject({ kind: "host", state: "stale", addresses: ["127.0.0.22"] });
      expect(await rejections(networks.envoy)).toEqual([]);
    }, 60_000);
  },
);
