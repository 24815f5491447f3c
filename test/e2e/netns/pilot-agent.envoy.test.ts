import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../../programs.ts";
import { lacks } from "../../skip.ts";
import { eventually } from "../envoy.ts";
import { addIstioPod, forgetIstioPod, istioAgent, killAllIn, readyAfterMs, startIstioAgent } from "./istio-agent.ts";
import { type Network, openNetwork, type PodProgram, startIn, withoutNamespaces } from "./network.ts";
import { tokenKeys } from "./token-keys.ts";

const why = withoutNamespaces();
const needs = `Linux, root and iptables, for network namespaces: ${why}`;

const cli = await program("cli");
const addresses = { client: "10.55.0.11", web: "10.55.0.12", machine: "10.55.0.13" } as const;
type Pod = keyof typeof addresses;
const pods = ["client", "web"] as const;
/** The machine is no pod: it registers itself. */
const workloads = [...pods, "machine"] as const;
const issuer = "https://kubernetes.default.svc.cluster.local";

const app = `require("node:http").createServer((q, r) => r.end("the app")).listen(8080, "0.0.0.0")`;

/** Asks all the time, on a connection of its own each, and prints what comes back. */
const caller = `const http = require("node:http");
const ask = () => { const q = http.get({ host: "10.96.0.10", port: 80, agent: false, timeout: 3000, headers: { host: "web.shop" } },
  (r) => { r.resume(); r.on("end", () => console.log(r.statusCode)); });
  q.on("timeout", () => q.destroy(new Error("timeout"))); q.on("error", (e) => console.log("failed " + (e.code || e.message))); };
setInterval(ask, 50);`;

/** A kubelet's probe: by it the agent finds out, and prints, when it is ready. */
const probe = `const ask = () => require("node:http").get({ host: "127.0.0.1", port: 15020, path: "/healthz/ready", agent: false },
  (r) => r.statusCode === 200 ? process.exit() : r.resume()).on("error", () => {});
setInterval(ask, 50);`;

const podOf = (name: Pod) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "shop",
    labels: { app: name, "security.istio.io/tlsMode": "istio" },
    annotations: { "proxy.istio.io/config": 'proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true"}' },
  },
  spec: { serviceAccountName: name, containers: [{ name: "app" }] },
  status: {
    phase: "Running",
    podIP: addresses[name],
    podIPs: [{ ip: addresses[name] }],
    conditions: [{ type: "Ready", status: "True" }],
  },
});

const security = (kind: string, name: string, spec: object) => ({
  apiVersion: "security.istio.io/v1",
  kind,
  metadata: { name, namespace: "shop" },
  spec,
});

/** @param keys of users' tokens */
const shop = (keys: object) => [
  ...pods.map(podOf),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop" },
    spec: { clusterIP: "10.96.0.10", selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "legacy", namespace: "shop" },
    spec: {
      clusterIP: "10.96.0.11",
      selector: { app: "legacy" },
      ports: [{ name: "http", port: 80, targetPort: 8080 }],
    },
  },
  {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadGroup",
    metadata: { name: "legacy", namespace: "shop" },
    spec: { metadata: { labels: { app: "legacy" } }, template: { serviceAccount: "machine" } },
  },
  security("PeerAuthentication", "default", { mtls: { mode: "STRICT" } }),
  security("AuthorizationPolicy", "client-only", {
    selector: { matchLabels: { app: "web" } },
    rules: [{ from: [{ source: { principals: ["cluster.local/ns/shop/sa/client"] } }] }],
  }),
  security("RequestAuthentication", "users", {
    selector: { matchLabels: { app: "web" } },
    jwtRules: [{ issuer: "https://users.example", jwks: JSON.stringify(keys) }],
  }),
];

const settings = `
store: store
secretsKey: "@key"
front: {host: 0.0.0.0, port: 8080, grpcPort: 15010, tlsPort: 15012, workers: 1, ca: "on", authentication: "@auth.json"}
compile: {everySeconds: 3600, binaryForms: true}
collectors: [{kind: dir, folder: mesh}]
`;

describe.skipIf(
  lacks(why === undefined, needs) ||
    lacks(istioAgent() !== undefined, "Go, for Istio's agent: npm run test:servers builds it"),
)("Istio's own agent, with a stock Envoy, on a server without istiod", { timeout: 120_000 }, () => {
  let folder: string;
  let network: Network;
  let server: PodProgram;
  let calls: PodProgram;
  let users: Awaited<ReturnType<typeof tokenKeys>>;
  const namespaces = new Map<Pod, string>();
  const agents = new Map<Pod, PodProgram>();
  const programs: PodProgram[] = [];
  const inPod = (pod: Pod) => namespaces.get(pod) ?? "";

  const startServer = () =>
    startIn(network.hub, process.execPath, [cli, "serve", "--settings", "settings.yaml"], {}, folder);
  /** With the processes that it has started. */
  const killServer = async () => {
    killAllIn(network.hub);
    await server.kill("SIGKILL");
  };
  const answers = () => calls.printed().trim().split("\n");
  /** Waits for so many answers more, and gives those that are no 200. */
  const failuresAmong = async (count: number) => {
    const from = answers().length;
    await eventually(
      async () => answers().length,
      (length) => length >= from + count,
      30_000,
    );
    return answers()
      .slice(from)
      .filter((answer) => answer !== "200");
  };
  const issuedTo = (account: Pod): number =>
    server.printed().split(`"identity":"spiffe://cluster.local/ns/shop/sa/${account}"`).length - 1;
  const ask = (namespace: string, host: string, port: number, headers: object = {}): string => {
    const options = JSON.stringify({ host, port, headers: { host: "web.shop", ...headers } });
    const text = `require("node:http").get(${options}, (r) => { console.log(r.statusCode); process.exit(); }).on("error", (e) => console.log(e.code))`;
    return network.run(namespace, process.execPath, ["-e", text]).trim();
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-istio-agent-"));
    execFileSync("chmod", ["755", folder]);
    const cluster = await tokenKeys();
    users = await tokenKeys();
    await mkdir(join(folder, "mesh"));
    await writeFile(
      join(folder, "mesh/shop.yaml"),
      shop(users.keys)
        .map((one) => JSON.stringify(one))
        .join("\n---\n"),
    );
    const issuers = [{ issuer, audience: ["istio-ca"], jwks: cluster.keys, clusterId: "Kubernetes" }];
    await writeFile(join(folder, "auth.json"), JSON.stringify({ issuers }));
    await writeFile(join(folder, "settings.yaml"), settings);
    const key = randomBytes(32).toString("base64");
    await writeFile(join(folder, "key"), key);
    const env = { ...process.env, PORTOLAN_SECRETS_KEY: key };
    const run = (...args: readonly string[]) =>
      execFileSync(process.execPath, [cli, ...args], { cwd: folder, encoding: "utf8", env });
    run("ca", "init", "--trust-domain", "cluster.local", "--store", "store");
    const roots = run("ca", "roots", "--store", "store");
    network = openNetwork();
    server = startServer();
    await eventually(
      async () => server.printed(),
      (log) => log.includes('"msg":"serving"') && log.includes("compiled: published"),
      50_000,
    );
    for (const pod of workloads) {
      namespaces.set(pod, addIstioPod(network, addresses[pod]));
      const binding = { "kubernetes.io": { namespace: "shop", pod: { name: pod }, serviceaccount: { name: pod } } };
      const token = await cluster.token(issuer, `system:serviceaccount:shop:${pod}`, "istio-ca", binding);
      const about = { name: pod, namespace: "shop", serviceAccount: pod, address: addresses[pod], token, roots };
      // Certificates of a minute, of which each is in use for six seconds.
      const short = { SECRET_TTL: "60s", SECRET_GRACE_PERIOD_RATIO: "0.9", ISTIO_META_DNS_CAPTURE: "true" };
      const group = pod === "machine" ? { ISTIO_META_AUTO_REGISTER_GROUP: "legacy" } : {};
      agents.set(pod, startIstioAgent(inPod(pod), join(folder, pod), { ...about, env: { ...short, ...group } }));
    }
    for (const pod of ["web", "machine"] as const) programs.push(startIn(inPod(pod), process.execPath, ["-e", app]));
    calls = startIn(inPod("client"), process.execPath, ["-e", caller]);
    programs.push(calls);
  }, 90_000);

  afterAll(async () => {
    for (const agent of agents.values()) await agent.kill("SIGKILL");
    for (const namespace of namespaces.values()) killAllIn(namespace);
    for (const one of programs) await one.kill("SIGKILL");
    if (server !== undefined) await killServer();
    for (const namespace of namespaces.values()) forgetIstioPod(namespace);
    network?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("is ready, with names over DNS and a certificate of this CA", async () => {
    for (const [pod, agent] of agents) {
      programs.push(startIn(inPod(pod), process.execPath, ["-e", probe]));
      const ms = await eventually(
        async () => readyAfterMs(agent) ?? agent.printed().slice(-3_000),
        (after) => typeof after === "number",
        30_000,
      );
      console.log(`the agent of ${pod} was ready after ${ms} ms`);
    }
    const look = `const r = new (require("node:dns").promises.Resolver)(); r.setServers(["127.0.0.1:15053"]);
      r.resolve4("web.shop.svc.cluster.local").then((a) => console.log(a.join()), (e) => console.log(e.code))`;
    expect(network.run(inPod("client"), process.execPath, ["-e", look]).trim()).toBe("10.96.0.10");
    for (const pod of pods) expect(issuedTo(pod)).toBeGreaterThan(0);
  });

  it("lets what one calls through to the other with mutual TLS, and takes no plain text", async () => {
    await eventually(
      async () => answers().slice(-20),
      (last) => last.length === 20 && last.every((answer) => answer === "200"),
      20_000,
    );
    expect(ask(network.hub, addresses.web, 8080)).toBe("ECONNRESET");
  });

  it("sends requests to a machine that has registered itself, with mutual TLS", async () => {
    await eventually(
      async () => ask(inPod("client"), "10.96.0.11", 80, { host: "legacy.shop" }),
      (answer) => answer === "200",
      20_000,
    );
    expect(ask(network.hub, addresses.machine, 8080)).toBe("ECONNRESET");
  });

  it("takes users' tokens of their issuer alone", async () => {
    const bearer = async (by: string) => ({
      authorization: `Bearer ${await users.token(by, "ann", "shop")}`,
    });
    expect(ask(inPod("client"), "10.96.0.10", 80, await bearer("https://users.example"))).toBe("200");
    expect(ask(inPod("client"), "10.96.0.10", 80, await bearer("https://others.example"))).toBe("401");
  });

  it("goes on while certificates are renewed, and while the server and its CA are down", async () => {
    const before = issuedTo("client");
    await eventually(
      async () => issuedTo("client"),
      (count) => count > before,
      20_000,
    );
    expect(await failuresAmong(20)).toEqual([]);
    const from = answers().length;
    await killServer();
    // Longer than a certificate is in use.
    await failuresAmong(140);
    server = startServer();
    await eventually(
      async () => pods.map(issuedTo),
      (counts) => counts.every((count) => count > 0),
      45_000,
    );
    await failuresAmong(40);
    expect(
      answers()
        .slice(from)
        .filter((answer) => answer !== "200"),
    ).toEqual([]);
  });
});
