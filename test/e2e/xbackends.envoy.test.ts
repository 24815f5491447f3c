/** A gateway whose routes lead to XBackends of another namespace: pods selected by labels, in plain text and with a client certificate. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { authenticateBy, identified } from "../../lib/front/auth/authentication.ts";
import type { Caller } from "../../lib/front/auth/caller.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { secretStore } from "../../lib/secrets/secret-store.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { freePort } from "../free-port.ts";
import { type Bookshop, openBookshop, rejections, startGateway } from "./bookshop.ts";
import { createAuthority, issueServer } from "./certificates.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { get } from "./sidecars.ts";

const pods = { one: "127.0.0.41", two: "127.0.0.42", vault: "127.0.0.43" } as const;
const closing: (() => unknown)[] = [];
let shop: Bookshop;
let scratch: string;
let envoy: RunningEnvoy;
let edgePort: number;

async function listen(server: Server, address: string, port = 0): Promise<number> {
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, address, listening);
  });
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port; // a TCP server's address is never a text
}

const object = (apiVersion: string, kind: string, name: string, namespace: string, more: object): object => ({
  apiVersion,
  kind,
  metadata: { name, namespace, ...(kind === "Pod" ? { labels: { app: name === "vault" ? "vault" : "open" } } : {}) },
  ...more,
});

const pod = (name: keyof typeof pods): object =>
  object("v1", "Pod", name, "vaults", {
    spec: { containers: [{ name }] },
    status: {
      phase: "Running",
      podIP: pods[name],
      podIPs: [{ ip: pods[name] }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  });

const selected = (name: string, app: string, number: number, more: object = {}): readonly object[] => [
  object("gateway.networking.x-k8s.io/v1alpha1", "XBackend", name, "vaults", {
    spec: { type: "EndpointSelector", endpointSelector: { matchLabels: { app } }, port: { number }, ...more },
  }),
  object("gateway.networking.k8s.io/v1", "HTTPRoute", name, "vaults", {
    spec: {
      parentRefs: [{ name: "edge", namespace: "bookshop" }],
      hostnames: [`${name}.example.com`],
      rules: [{ backendRefs: [{ group: "gateway.networking.x-k8s.io", kind: "XBackend", name }] }],
    },
  }),
];

const mutual = (secret: string): object => ({
  tls: {
    mode: "ClientAndServer",
    clientCertificateRef: { name: secret },
    validation: { hostname: "vault.example", caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "roots" }] },
  },
});

const ask = (name: string) =>
  get({ host: "127.0.0.1", port: edgePort, path: "/", headers: { host: `${name}.example.com` } }).catch(() => ({
    status: 0,
    body: "",
  }));

beforeAll(async () => {
  shop = await openBookshop();
  edgePort = await freePort();
  scratch = mkdtempSync(join(tmpdir(), "portolan-xbackends-"));
  const authority = createAuthority(join(scratch, "own"));
  const { certificate, key } = issueServer(authority, "vault.example");
  const pair = { cert: readFileSync(certificate), key: readFileSync(key) };
  const open = await listen(
    createServer((_request, response) => response.end("one")),
    pods.one,
  );
  await listen(
    createServer((_request, response) => response.end("two")),
    pods.two,
    open,
  );
  const vault = createTlsServer({ ...pair, ca: readFileSync(authority), requestCert: true }, (request, response) =>
    response.end(String((request.socket as TLSSocket).getPeerCertificate().subjectaltname)),
  );
  const locked = await listen(vault, pods.vault);
  const objects = [
    object("v1", "Service", "edge", "bookshop", {
      spec: {
        clusterIP: "10.96.0.98",
        selector: { istio: "ingressgateway" },
        ports: [{ name: "web", port: 8080, targetPort: edgePort }],
      },
    }),
    object("gateway.networking.k8s.io/v1", "Gateway", "edge", "bookshop", {
      spec: {
        gatewayClassName: "portolan",
        addresses: [{ type: "Hostname", value: "edge" }],
        listeners: [{ name: "web", port: 8080, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } }],
      },
    }),
    object("v1", "ConfigMap", "roots", "vaults", { data: { "ca.crt": readFileSync(authority, "utf8") } }),
    ...(["one", "two", "vault"] as const).map(pod),
    ...selected("open", "open", open),
    ...selected("vault", "vault", locked, mutual("client")),
    // Its pods would answer in plain text.
    ...selected("keyless", "open", open, mutual("absent")),
  ];
  await shop.add("xbackends.yaml", objects.map((one) => JSON.stringify(one)).join("\n---\n"));
  await shop.add("portolan.yaml", "gatewayApi: { alphaKinds: true }\n");
  const store = memoryStore();
  const world = { ...defaultWorldOptions, certificates: "none", binaryForms: true } as const;
  await writeShard(store, "main", await readFolder(shop.folder));
  const { diagnostics } = await createLeasedCompiler({ store, world, pace: { quietMs: 0 } })();
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const secrets = secretStore(store, wrappingKeys(makeWrappingKey(), "KEY"));
  const values = { "tls.crt": pair.cert.toString("base64"), "tls.key": pair.key.toString("base64") };
  await secrets.put({ namespace: "vaults", name: "client" }, { values });
  // The gateway, as it has proven; the secret is of another namespace.
  const caller: Caller = { kind: "node", subject: "edge", namespace: "bookshop" };
  const authentication = authenticateBy("test", [async () => identified(caller)]);
  const front = createFront({ store, maxHoldMs: 1_000, secrets, authentication });
  const polls = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  closing.push(() => front.close());
  closing.push(() => polls.close());
  envoy = await startGateway(polls.url, { certificates: "none" });
}, 300_000);

afterAll(async () => {
  await envoy?.stop();
  for (const close of closing.toReversed()) await close();
  await shop?.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe("a gateway with routes to selected endpoints", () => {
  it("reaches every pod that the labels select", async () => {
    await eventually(
      () => ask("open"),
      ({ status }) => status === 200,
      30_000,
    );
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask("open")));
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(["one", "two"]));
  }, 60_000);

  it("shows the certificate of a Secret beside the XBackend, which no ReferenceGrant opens", async () => {
    const answer = await eventually(
      () => ask("vault"),
      ({ status }) => status === 200,
      30_000,
    );
    expect(answer.body).toBe("DNS:vault.example");
    expect(await rejections(envoy)).toEqual([]);
  }, 60_000);

  it("makes no connection without the certificate, and never one in plain text", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("keyless")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  }, 60_000);
});
