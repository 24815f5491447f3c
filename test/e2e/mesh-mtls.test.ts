import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world-of.ts";
import { readFiles } from "../../lib/config/directory.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo.ts";
import { proxyOf } from "../../lib/mesh/proxy-from-node.ts";
import { withCertificateFiles } from "../../lib/xds/certificate-files.ts";
import { generate } from "../../lib/xds/generate.ts";
import { isJsonObject, type JsonObject, mapJson } from "../../lib/xds/map-json.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { createAuthority, issueIdentity } from "./certificates.ts";
import { type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { freePort, startUpstream, type Upstream } from "./upstream.ts";

const serverIp = "127.0.0.11";
const clientIp = "127.0.0.12";
const strangerIp = "127.0.0.13";
const host = "server.default.svc.cluster.local";

const directory = mkdtempSync(join(tmpdir(), "portolan-mtls-"));
const closing: (() => unknown)[] = [];
let app: Upstream;
let serverPort = 0;
let servicePort = 0;
let token: (issuer: string) => Promise<string>;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request through a proxy's listener, for the service. */
function ask(ip: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: ip, port: servicePort, path, headers: { host, ...headers }, agent: false };
    const asked = request(options, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.once("error", reject);
    asked.end();
  });
}

const pod = (name: string, ip: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels: { app: name, "security.istio.io/tlsMode": "istio" } },
  spec: { serviceAccountName: name, containers: [] },
  status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] },
});

const istio = (kind: string, group: string, name: string, spec: object) => ({
  apiVersion: `${group}.istio.io/v1`,
  kind,
  metadata: { name, namespace: "default" },
  spec,
});

/** Listeners bind where the workload is, so that no traffic has to be intercepted. */
function sidecarOf(name: string, parts: object) {
  return istio("Sidecar", "networking", name, { workloadSelector: { labels: { app: name } }, ...parts });
}

const clientEgress = (ip: string) => ({
  egress: [
    { port: { number: servicePort, name: "http", protocol: "HTTP" }, bind: ip, captureMode: "NONE", hosts: ["./*"] },
  ],
});

function objects(jwks: string): readonly object[] {
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "server", namespace: "default" },
      spec: {
        clusterIP: "10.0.0.1",
        selector: { app: "server" },
        ports: [{ name: "http", port: servicePort, targetPort: serverPort }],
      },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "server-1", namespace: "default", labels: { "kubernetes.io/service-name": "server" } },
      addressType: "IPv4",
      endpoints: [
        {
          addresses: [serverIp],
          conditions: { ready: true },
          targetRef: { kind: "Pod", name: "server", namespace: "default" },
        },
      ],
      ports: [{ name: "http", port: serverPort }],
    },
    pod("server", serverIp),
    pod("client", clientIp),
    pod("stranger", strangerIp),
    sidecarOf("server", {
      ingress: [
        {
          port: { number: serverPort, name: "http", protocol: "HTTP" },
          bind: serverIp,
          captureMode: "NONE",
          defaultEndpoint: `127.0.0.1:${app.port}`,
        },
      ],
      egress: [{ hosts: ["~/*"] }],
    }),
    sidecarOf("client", clientEgress(clientIp)),
    sidecarOf("stranger", clientEgress(strangerIp)),
    istio("PeerAuthentication", "security", "default", { mtls: { mode: "STRICT" } }),
    istio("RequestAuthentication", "security", "tokens", {
      selector: { matchLabels: { app: "server" } },
      jwtRules: [{ issuer: "trusted", jwks }],
    }),
    istio("AuthorizationPolicy", "security", "client-only", {
      selector: { matchLabels: { app: "server" } },
      rules: [
        {
          from: [{ source: { principals: ["cluster.local/ns/default/sa/client"] } }],
          to: [{ operation: { paths: ["/open*"] } }],
        },
        {
          from: [{ source: { requestPrincipals: ["trusted/*"] } }],
          to: [{ operation: { paths: ["/tokens*"] } }],
        },
      ],
    }),
  ];
}

/** Route tables inside the listeners: this test has no server to poll. */
function inlineRoutes(tables: ReadonlyMap<string, object>): (object: JsonObject) => JsonObject {
  return (object) => {
    if (!isJsonObject(object.rds)) return object;
    const { rds, ...rest } = object;
    return { ...rest, routeConfig: tables.get(String(rds.routeConfigName)) };
  };
}

async function startProxies(jwks: string): Promise<void> {
  const memo = createMemo();
  const text = objects(jwks).map((each) => JSON.stringify(each));
  const loaded = readFiles([{ file: "input.yaml", text: text.join("\n---\n") }]);
  expect(loaded.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const world = worldOf(loaded, defaultWorldOptions, memo).value;
  const mesh = buildMesh(world, memo).value;
  const authority = createAuthority(directory);
  const addresses = { server: serverIp, client: clientIp, stranger: strangerIp };
  const starting = Object.entries(addresses).map(async ([name, ip]) => {
    const metadata = { INTERCEPTION_MODE: "NONE" };
    const node = {
      name,
      type: "sidecar",
      ip,
      namespace: "default",
      serviceAccount: name,
      labels: { app: name },
      metadata,
    } as const;
    const proxy = proxyOf(node, world.registry, world.meshConfig).value;
    if (proxy === undefined) throw new Error(`no proxy ${name}`);
    const files = issueIdentity(authority, `spiffe://cluster.local/ns/default/sa/${name}`);
    const stream = generate(mesh, proxy, memo).value;
    const polled = pollShape(stream, memo);
    const shape = withCertificateFiles(polled, { directory: files, systemRoots: authority }, memo);
    const tables = new Map(shape.routes.map((table) => [table.name, table.json]));
    const bootstrap = bootstrapOf({
      nodeId: `sidecar~${ip}~${name}.default~default.svc.cluster.local`,
      nodeCluster: name,
      metadata: {},
      adminPort: 0,
      server: { host: "127.0.0.1", port: 9 },
    });
    const { dynamicResources: _polls, ...rest } = bootstrap;
    const envoy: RunningEnvoy = await startEnvoy({
      ...rest,
      staticResources: {
        clusters: [...(rest.staticResources?.clusters ?? []), ...shape.clusters.map(({ json }) => json)],
        listeners: shape.listeners.map(({ json }) => mapJson(json, inlineRoutes(tables))),
      },
    });
    closing.push(envoy.stop);
  });
  await Promise.all(starting);
}

beforeAll(async () => {
  [serverPort, servicePort] = [await freePort(), await freePort()];
  app = await startUpstream("the app");
  closing.push(app.close);
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };
  token = (issuer) =>
    new SignJWT({})
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuer(issuer)
      .setSubject("me")
      .setExpirationTime("1h")
      .sign(privateKey);
  await startProxies(JSON.stringify({ keys: [key] }));
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(directory, { recursive: true, force: true });
});

describe("two sidecars with certificates", () => {
  it("carry a request over mutual TLS", async () => {
    expect(await ask(clientIp, "/open/door")).toEqual({ status: 200, body: "the app" });
  });

  it("refuse what no policy allows, and whom none allows", async () => {
    expect((await ask(clientIp, "/closed")).status).toBe(403);
    expect((await ask(strangerIp, "/open/door")).status).toBe(403);
  });

  it("refuse plain text", async () => {
    const plain = new Promise<Answer>((resolve, reject) => {
      const asked = request({ host: serverIp, port: serverPort, path: "/open/door", agent: false }, (response) =>
        resolve({ status: response.statusCode ?? 0, body: "" }),
      );
      asked.once("error", reject);
      asked.end();
    });
    await expect(plain).rejects.toThrow();
  });

  it("take a token of a trusted issuer, and refuse one of another or none", async () => {
    const bearer = async (issuer: string) => ({ authorization: `Bearer ${await token(issuer)}` });
    expect((await ask(strangerIp, "/tokens", await bearer("trusted"))).status).toBe(200);
    expect((await ask(strangerIp, "/tokens", await bearer("other"))).status).toBe(401);
    expect((await ask(strangerIp, "/tokens")).status).toBe(403);
  });
});
