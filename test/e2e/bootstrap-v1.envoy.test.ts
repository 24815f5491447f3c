import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BootstrapJson } from "../../gen/envoy/config/bootstrap/v3/bootstrap_pb.ts";
import { runCli } from "../../lib/cli/program.ts";
import { frontApp } from "../../lib/front/app.ts";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { compileLegacy } from "../../lib/v1/compile-legacy.ts";
import type { Cluster, ClusterTls, ConnectionManager, Listener, Route } from "../../lib/v1/documents.ts";
import { freePort } from "../free-port.ts";
import { tokenOf } from "../front/auth/keys.ts";
import { testFront } from "../front/fixtures.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { answer } from "../v1/oracle/answer.ts";
import { shop } from "../v1/worlds.ts";
import { type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { type Platform, startPlatform } from "./platform.ts";

/** The part of a v1 bootstrap that this test reads. */
interface V1Bootstrap {
  readonly listeners: readonly (Omit<Listener, "filters"> & {
    readonly filters: readonly { readonly name: string; readonly config: ConnectionManager }[];
  })[];
  readonly cluster_manager: {
    readonly clusters: readonly Cluster[];
    readonly sds: { readonly cluster: Cluster };
    readonly cds: { readonly cluster: Cluster };
  };
}

const node = "sidecar~10.20.0.1~frontend-1.shop~shop.svc.cluster.local";

/** What a v1 Envoy asks of each discovery cluster; it writes the cluster's name into `Host`. */
const questions = [
  { cluster: "cds", path: `/v1/clusters/istio-proxy/${node}` },
  { cluster: "lds", path: `/v1/listeners/istio-proxy/${node}` },
  { cluster: "rds", path: `/v1/routes/80/istio-proxy/${node}` },
  { cluster: "sds", path: "/v1/registration/catalog.shop.svc.cluster.local%7Chttp" },
];

let folder: string;
let server: RunningServer;
let platform: Platform;
let written: V1Bootstrap;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-bootstrap-v1-"));
  const key = await makeSigningKey("tokens");
  const authentication = readAuthentication(JSON.stringify({ tokens: { keys: [publicPart(key)] } }));
  const { front, publish } = testFront({ authentication });
  await publish({ ...worldOf({}), legacy: compileLegacy(shop) });
  server = await serveHttp(frontApp(front), 0);
  platform = await startPlatform("cloudflare", server.url);
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, await tokenOf(key, { scope: "v1" }, 3_600, Date.now()));
  written = await bootstrapV1("--token-file", tokenFile, "--loopback-port", String(await freePort()));
});

afterAll(async () => {
  await platform?.close();
  await server?.close();
  await rm(folder, { recursive: true });
});

async function bootstrapV1(...args: readonly string[]): Promise<V1Bootstrap> {
  const out: string[] = [];
  const terminal = {
    out: (line: string) => out.push(line),
    err: console.error,
    colours: picocolors.createColors(false),
  };
  const server = ["--server", platform.url, "--ca", platform.caFile];
  expect(await runCli(["node", "portolan", "bootstrap-v1", ...server, ...args], terminal)).toBe(0);
  return JSON.parse(out.join("\n"));
}

/**
 * The written listener and the cluster behind it, field by field in today's words: no Envoy that speaks v1 can be had, and a real one
 * shows what comes of them at a platform.
 */
function inV3({ listeners, cluster_manager: { clusters } }: V1Bootstrap): BootstrapJson {
  const front = clusters.find(({ name }) => name === "portolan");
  const [listener] = listeners;
  const manager = listener?.filters[0]?.config;
  const host = manager?.route_config?.virtual_hosts[0];
  if (front?.ssl_context === undefined || listener === undefined || host === undefined) throw new Error("not over TLS");
  const typedConfig = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" as const,
    statPrefix: "portolan",
    routeConfig: {
      virtualHosts: [{ name: host.name, domains: [...host.domains], routes: host.routes.map(routeInV3) }],
    },
    httpFilters: [
      {
        name: "envoy.filters.http.router",
        typedConfig: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  return {
    admin: { address: socketAddress("tcp://127.0.0.1:0") },
    staticResources: {
      listeners: [
        {
          name: listener.name,
          address: socketAddress(listener.address),
          filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig }] }],
        },
      ],
      clusters: [
        {
          name: front.name,
          type: "LOGICAL_DNS",
          // The test's platform listens at the first address of its name, IPv6 on some machines; Envoy 1.5 resolves IPv4 alone.
          dnsLookupFamily: "ALL",
          connectTimeout: `${front.connect_timeout_ms / 1_000}s`,
          loadAssignment: {
            clusterName: front.name,
            endpoints: [{ lbEndpoints: [{ endpoint: { address: socketAddress(front.hosts?.[0]?.url ?? "") } }] }],
          },
          transportSocket: tlsInV3(front.ssl_context),
        },
      ],
    },
  };
}

function tlsInV3({ ca_cert_file = "", verify_subject_alt_name, sni = "" }: ClusterTls) {
  const typedConfig = {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    sni,
    commonTlsContext: {
      validationContext: {
        trustedCa: { filename: ca_cert_file },
        matchTypedSubjectAltNames: (verify_subject_alt_name ?? []).map((exact) => ({
          sanType: "DNS",
          matcher: { exact },
        })),
      },
    },
  };
  return { name: "envoy.transport_sockets.tls", typedConfig };
}

function routeInV3({ prefix = "", headers = [], cluster = "", host_rewrite, timeout_ms, ...route }: Route) {
  return {
    match: { prefix, headers: headers.map(({ name, value }) => ({ name, stringMatch: { exact: value } })) },
    route: {
      cluster,
      timeout: `${timeout_ms / 1_000}s`,
      ...(host_rewrite === undefined ? {} : { hostRewriteLiteral: host_rewrite }),
    },
    requestHeadersToAdd: (route.request_headers_to_add ?? []).map((header) => ({ header: { ...header } })),
  };
}

function socketAddress(url: string) {
  const { hostname, port } = new URL(url.replace("tcp:", "http:"));
  return { socketAddress: { address: hostname, portValue: Number(port) } };
}

/** Where the written bootstrap sends what it asks of one of its clusters. */
function addressOf(name: string): URL {
  const { clusters, sds, cds } = written.cluster_manager;
  const found = [...clusters, sds.cluster, cds.cluster].find((cluster) => cluster.name === name);
  return new URL((found?.hosts?.[0]?.url ?? "").replace("tcp:", "http:"));
}

function ask(
  cluster: string,
  path: string,
  method = "GET",
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = addressOf(cluster);
    request({ hostname, port, path, method, headers: { host: cluster } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() }));
    })
      .on("error", reject)
      .end();
  });
}

async function withEnvoy(bootstrap: BootstrapJson, use: (envoy: RunningEnvoy) => Promise<void>): Promise<void> {
  const envoy = await startEnvoy(bootstrap);
  try {
    await use(envoy);
  } finally {
    await envoy.stop();
  }
}

describe("portolan bootstrap-v1 --server https://…", () => {
  it("leads what each discovery cluster asks to a front that its platform finds by its name", async () => {
    await withEnvoy(inV3(written), async () => {
      for (const { cluster, path } of questions) {
        const { body } = answer(shop, { method: "GET", path });
        expect({ cluster, ...(await ask(cluster, path)) }).toEqual({ cluster, status: 200, body });
      }
      expect(platform.counts()).toMatchObject({ passed: questions.length, foreign: 0 });
      // What else a process of the machine asks for with the proxy's token goes no further.
      expect((await ask("cds", "/metrics")).status).toBe(404);
      expect((await ask("cds", "/v1/registration/a", "POST")).status).toBe(404);
      expect(platform.counts()).toMatchObject({ passed: questions.length, foreign: 0 });
    });
  });

  it("is refused by the platform without the route that writes the front's name", async () => {
    const asIs = JSON.parse(JSON.stringify(written), (key, value) => (key === "host_rewrite" ? undefined : value));
    await withEnvoy(inV3(asIs), async () => {
      expect((await ask("lds", `/v1/listeners/istio-proxy/${node}`)).status).toBe(409);
    });
  });

  it("gives nothing to a server whose certificate has another name", async () => {
    const other = JSON.parse(JSON.stringify(written), (key, value) =>
      key === "verify_subject_alt_name" ? ["other.example"] : value,
    );
    await withEnvoy(inV3(other), async () => {
      const before = platform.counts();
      expect((await ask("lds", `/v1/listeners/istio-proxy/${node}`)).status).toBe(503);
      expect(platform.counts()).toEqual(before);
    });
  });
});
