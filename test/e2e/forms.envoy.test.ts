import { createServer, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FormName } from "../../lib/mesh/forms.ts";
import { freePort } from "../free-port.ts";
import { type CapturedSidecar, startCaptured } from "./captured.ts";
import { eventually } from "./envoy.ts";
import { startUpstream } from "./upstream.ts";

/** On loopback, so that traffic can go where it was going; and of a cluster, as names only have an address that others can reach. */
const own = "127.0.0.21";
const peer = "127.0.0.22";
const clusterAddress = "10.1.0.1";

const formNames: readonly FormName[] = ["istio", "shared"];
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** One sidecar of each form, for the same objects. */
async function pair(
  files: Readonly<Record<string, readonly object[]>>,
  ip: string,
  labels: Readonly<Record<string, string>> = { app: "web" },
): Promise<Readonly<Record<FormName, CapturedSidecar>>> {
  const [istio, shared] = await Promise.all(formNames.map((form) => startCaptured(files, { ip, labels }, form)));
  if (istio === undefined || shared === undefined) throw new Error("no pair");
  closers.push(istio.envoy.stop, shared.envoy.stop);
  return { istio, shared };
}

const service = (name: string, ports: readonly object[], spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default" },
  spec: { clusterIP: "10.0.0.9", ports, ...spec },
});

const slice = (name: string, addresses: readonly string[], ports: readonly object[]) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: `${name}-1`, namespace: "default", labels: { "kubernetes.io/service-name": name } },
  addressType: "IPv4",
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports,
});

const pod = (ip: string, labels: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web-0",
    namespace: "default",
    labels: { app: "web", "security.istio.io/tlsMode": "istio", ...labels },
  },
  spec: { serviceAccountName: "web" },
  status: { phase: "Running", podIP: ip, conditions: [{ type: "Ready", status: "True" }] },
});

const istio = (type: string, kind: string, spec: object) => ({
  apiVersion: type,
  kind,
  metadata: { name: "object", namespace: "default" },
  spec,
});

/** A request over a connection of its own, and its status line or body. */
const request = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: web.default\r\nConnection: close\r\n${headers}\r\n`;

/** A server that says its name to whoever connects. */
async function startTeller(name: string, host: string, port: number): Promise<void> {
  const server = createTcpServer((socket) => socket.once("error", () => {}).end(name));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  closers.push(() => server.close());
}

describe("sidecars of both forms", () => {
  it("lead to every pod of a headless service, and to the own one by another cluster", async () => {
    const port = await freePort();
    await Promise.all([startTeller("own", own, port), startTeller("peer", peer, port)]);
    const ports = [{ name: "tcp", port, protocol: "TCP" }];
    const both = await pair(
      {
        "input.yaml": [
          service("queue", ports, { clusterIP: "None" }),
          slice("queue", [own, peer], ports),
          istio("networking.istio.io/v1", "DestinationRule", {
            host: "queue",
            trafficPolicy: { tls: { mode: "DISABLE" } },
          }),
        ],
      },
      own,
    );
    const host = "queue.default.svc.cluster.local";
    const taken = { istio: "PassthroughCluster;", shared: `outbound|${port}||${host};` };
    for (const form of formNames) {
      const { outbound, envoy } = both[form];
      expect(await outbound(own, port, "")).toBe("own");
      expect(await envoy.stat(`cluster.${taken[form]}.upstream_cx_total`)).toBe(1);
      expect(await outbound(peer, port, "")).toBe("peer");
    }
  });

  it("let through what comes for a port that nobody declared", async () => {
    const port = await freePort();
    await startTeller("own", own, port);
    const both = await pair({ "input.yaml": [] }, own);
    // Inspectors wait for a first line.
    for (const form of formNames) expect(await both[form].inward(port, "hello\r\n")).toBe("own");
  });

  it("serve a Sidecar's listener without bind, whatever it is called", async () => {
    const app = await startUpstream("the app");
    closers.push(app.close);
    const both = await pair(
      {
        "input.yaml": [
          pod(clusterAddress),
          istio("networking.istio.io/v1", "Sidecar", {
            ingress: [
              { port: { number: 8083, name: "http", protocol: "HTTP" }, defaultEndpoint: `127.0.0.1:${app.port}` },
            ],
            egress: [{ hosts: ["./*"] }],
          }),
        ],
      },
      clusterAddress,
    );
    expect(both.istio.chains).toContain(`${clusterAddress}_8083`);
    expect(both.shared.chains).toContain("0.0.0.0_8083");
    for (const form of formNames) {
      expect(await both[form].inward(8083, request("/"))).toContain("the app");
    }
  });
});

describe("traced sidecars of both forms", () => {
  const bodies: Buffer[] = [];
  let collector: Server;
  let collectorPort = 0;
  let appPort = 0;

  beforeAll(async () => {
    collector = createServer((asked, response) => {
      const parts: Buffer[] = [];
      asked.on("data", (part: Buffer) => parts.push(part));
      asked.on("end", () => {
        bodies.push(Buffer.concat(parts));
        response.end();
      });
    });
    collectorPort = await freePort();
    await new Promise<void>((resolve) => collector.listen(collectorPort, "127.0.0.1", resolve));
    closers.push(() => collector.close());
    const app = await startUpstream("the app");
    appPort = app.port;
    closers.push(app.close);
  });

  const objects = () => [
    pod(clusterAddress, { "service.istio.io/canonical-name": "shop" }),
    service("collector", [{ name: "http", port: 9411 }]),
    slice("collector", ["127.0.0.1"], [{ name: "http", port: collectorPort }]),
    service("web", [{ name: "http", port: 80, targetPort: appPort }], { selector: { app: "web" } }),
    slice("web", ["127.0.0.1"], [{ name: "http", port: appPort }]),
  ];
  const labels = { app: "web", "service.istio.io/canonical-name": "shop" };
  const spansOf = async (sidecar: CapturedSidecar): Promise<string> => {
    bodies.length = 0;
    expect(await sidecar.outbound("10.0.0.9", 80, request("/"))).toContain("the app");
    const body = await eventually(
      async () => bodies[0],
      (found) => found !== undefined,
    );
    return body?.toString("latin1") ?? "";
  };

  it("put the same tags into spans", async () => {
    const meshConfig = {
      defaultConfig: { tracing: { sampling: 100 } },
      defaultProviders: { tracing: ["spans"] },
      extensionProviders: [{ name: "spans", zipkin: { service: "collector.default.svc.cluster.local", port: 9411 } }],
    };
    const both = await pair({ "input.yaml": objects(), "mesh.yaml": [meshConfig] }, clusterAddress, labels);
    const tags = async (form: FormName) => (await spansOf(both[form])).match(/"istio\.\w+":"[^"]*"/g)?.sort();
    const inIstio = await tags("istio");
    expect(inIstio).toContain('"istio.canonical_service":"shop"');
    expect(await tags("shared")).toEqual(inIstio);
  });

  it("call a service by OpenTelemetry's conventions after its pod, or after its canonical name", async () => {
    const provider = {
      service: "collector.default.svc.cluster.local",
      port: 9411,
      http: { path: "/v1/traces" },
      serviceAttributeEnrichment: "OTEL_SEMANTIC_CONVENTIONS",
    };
    const meshConfig = {
      defaultConfig: { tracing: { sampling: 100 } },
      defaultProviders: { tracing: ["spans"] },
      extensionProviders: [{ name: "spans", opentelemetry: provider }],
    };
    const both = await pair({ "input.yaml": objects(), "mesh.yaml": [meshConfig] }, clusterAddress, labels);
    // Key and value of the resource's attribute, as protobuf has them one after the other.
    expect(await spansOf(both.istio)).toMatch(/service\.name\W+web-0/);
    expect(await spansOf(both.shared)).toMatch(/service\.name\W+shop/);
  });

  it("answer alike where nothing is traced", async () => {
    const both = await pair({ "input.yaml": objects() }, clusterAddress, labels);
    for (const form of formNames) {
      expect(await both[form].outbound("10.0.0.9", 80, request("/"))).toContain("the app");
    }
  });
});

describe("sidecars that check tokens", () => {
  it("fetch keys from a service of the mesh in the shared form only", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" }] });
    const [issuer, app] = await Promise.all([startUpstream(keys), startUpstream("the app")]);
    closers.push(issuer.close, app.close);
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuer("inside")
      .setExpirationTime("1h")
      .sign(privateKey);
    const objects = [
      pod(clusterAddress),
      service("issuer", [{ name: "http", port: 8080 }]),
      slice("issuer", ["127.0.0.1"], [{ name: "http", port: issuer.port }]),
      istio("networking.istio.io/v1", "Sidecar", {
        ingress: [{ port: { number: 8083, name: "http", protocol: "HTTP" }, defaultEndpoint: `127.0.0.1:${app.port}` }],
        egress: [{ hosts: ["./*"] }],
      }),
      istio("security.istio.io/v1", "RequestAuthentication", {
        jwtRules: [{ issuer: "inside", jwksUri: "http://issuer.default.svc.cluster.local:8080/keys" }],
      }),
    ];
    const both = await pair({ "input.yaml": objects }, clusterAddress);
    const asked = request("/", `Authorization: Bearer ${token}\r\n`);
    expect(await both.istio.inward(8083, asked)).toMatch(/^HTTP\/1\.1 401 /);
    const accepted = () => both.shared.inward(8083, asked);
    expect(await eventually(accepted, (answer) => answer.includes("the app"))).toMatch(/^HTTP\/1\.1 200 /);
  });
});
