/** Istio's own agents, sidecars and a gateway, that go over from a stand-in of istiod to Portolan and back while requests pass. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../../programs.ts";
import { lacks } from "../../skip.ts";
import { eventually } from "../envoy.ts";
import {
  addGatewayPod,
  addIstioPod,
  forgetIstioPod,
  istioAgent,
  killAllIn,
  readyAfterMs,
  startIstioAgent,
} from "./istio-agent.ts";
import { type Network, openNetwork, type PodProgram, startIn, withoutNamespaces } from "./network.ts";
import { tokenKeys } from "./token-keys.ts";

const why = withoutNamespaces();
const needs = `Linux, root and iptables, for network namespaces: ${why}`;

const cli = await program("cli");
const nameServerProgram = new URL("name-server.ts", import.meta.url).pathname;
const issuer = "https://kubernetes.default.svc.cluster.local";
const addresses = { client: "10.55.0.11", web: "10.55.0.12", edge: "10.55.0.14" } as const;
type Pod = keyof typeof addresses;
const pods = ["client", "web", "edge"] as const;
const [templatePodAddress, nameServerAddress, outsideAddress] = ["10.55.0.2", "10.55.0.3", "10.55.0.4"];
const gatewayPort = 8443;

const app = `require("node:http").createServer((q, r) => r.end("the app")).listen(8080, "0.0.0.0")`;

/** Asks all the time, on a connection of its own each, and prints the status and by whose configuration it was answered. */
const caller = (module: "http" | "https", options: object): string => `
const ask = () => { const q = require("node:${module}").get({ ...${JSON.stringify(options)}, agent: false, timeout: 5000 },
  (r) => { r.resume(); r.on("end", () => console.log(r.statusCode + " " + r.headers["x-configured-by"])); });
  q.on("timeout", () => q.destroy(new Error("timeout"))); q.on("error", (e) => console.log("failed " + (e.code || e.message))); };
setInterval(ask, 100);`;

const probe = `const ask = () => require("node:http").get({ host: "127.0.0.1", port: 15020, path: "/healthz/ready", agent: false },
  (r) => r.statusCode === 200 ? process.exit() : r.resume()).on("error", () => {});
setInterval(ask, 100);`;

const podOf = (name: Pod) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "shop",
    labels: { app: name, ...(name === "edge" ? {} : { "security.istio.io/tlsMode": "istio" }) },
  },
  spec: { serviceAccountName: name, containers: [{ name: "app" }] },
  status: {
    phase: "Running",
    podIP: addresses[name],
    podIPs: [{ ip: addresses[name] }],
    conditions: [{ type: "Ready", status: "True" }],
  },
});

const object = (group: string, kind: string, name: string, spec: object) => ({
  apiVersion: `${group}.istio.io/v1`,
  kind,
  metadata: { name, namespace: "shop" },
  spec,
});

/** @param server whose configuration it is: an answer says so */
const shop = (server: string) => [
  ...pods.map(podOf),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop" },
    spec: { clusterIP: "10.96.0.10", selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  },
  object("security", "PeerAuthentication", "default", { mtls: { mode: "STRICT" } }),
  object("security", "AuthorizationPolicy", "callers", {
    selector: { matchLabels: { app: "web" } },
    rules: [{ from: [{ source: { principals: ["client", "edge"].map((sa) => `cluster.local/ns/shop/sa/${sa}`) } }] }],
  }),
  object("networking", "Gateway", "edge", {
    selector: { app: "edge" },
    servers: [
      {
        port: { number: gatewayPort, name: "https", protocol: "HTTPS" },
        hosts: ["shop.example"],
        tls: { mode: "SIMPLE", credentialName: "edge-certificate" },
      },
    ],
  }),
  object("networking", "VirtualService", "web", {
    hosts: ["web.shop.svc.cluster.local", "shop.example"],
    gateways: ["mesh", "edge"],
    http: [
      {
        route: [{ destination: { host: "web.shop.svc.cluster.local", port: { number: 80 } } }],
        headers: { response: { set: { "x-configured-by": server } } },
      },
    ],
  }),
];

const settings = `
store: store
secretsKey: "@key"
front: {host: 0.0.0.0, port: 8080, grpcPort: 15010, tlsPort: 15012, workers: 1, ca: "on", authentication: "@auth.json"}
compile: {everySeconds: 3600, binaryForms: true}
collectors: [{kind: dir, folder: mesh}]
`;

const openssl = (folder: string, ...args: readonly string[]) =>
  execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

/** The files of a Secret `cacerts`, and a gateway's certificate. */
function makeCertificates(folder: string): void {
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-x509", "-days", "30"];
  const use = ["-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", "ca-key.pem", "-out", "ca-cert.pem"];
  openssl(folder, "req", ...ec, "-subj", "/O=cluster.local", ...use);
  const edge = ["-addext", "subjectAltName=DNS:shop.example", "-keyout", "edge.key", "-out", "edge.pem"];
  openssl(folder, "req", ...ec, "-subj", "/CN=shop.example", ...edge);
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "edge-certificate", namespace: "shop" },
    type: "kubernetes.io/tls",
    stringData: {
      "tls.crt": readFileSync(join(folder, "edge.pem"), "utf8"),
      "tls.key": readFileSync(join(folder, "edge.key"), "utf8"),
    },
  };
  writeFileSync(join(folder, "edge-secret.yaml"), JSON.stringify(secret));
}

describe.skipIf(
  lacks(why === undefined, needs) ||
    lacks(istioAgent() !== undefined, "Go, for Istio's agent: npm run test:servers builds it"),
)("Istio's own agents while the name istiod leads to another server", { timeout: 360_000 }, () => {
  let folder: string;
  let network: Network;
  const namespaces: string[] = [];
  const agents = new Map<Pod, PodProgram>();
  const programs: PodProgram[] = [];
  const callers: PodProgram[] = [];
  let standIn: ReturnType<typeof server>;
  let portolan: ReturnType<typeof server>;

  /** A server with a store of its own, in a namespace of its own. */
  function server(name: string, namespace: string) {
    let running: PodProgram | undefined;
    const cwd = join(folder, name);
    return {
      async start() {
        running = startIn(namespace, process.execPath, [cli, "serve", "--settings", "settings.yaml"], {}, cwd);
        const started = running;
        await eventually(
          async () => started.printed(),
          (log) => log.includes('"msg":"serving"') && log.includes("compiled: "),
          150_000,
        );
      },
      /** As a machine that is gone: streams end without a word. */
      async kill() {
        killAllIn(namespace);
        await running?.kill("SIGKILL");
      },
      hasIssuedTo: (pod: Pod) =>
        running?.printed().includes(`"identity":"spiffe://cluster.local/ns/shop/sa/${pod}"`) === true,
    };
  }

  /** Where pods find `istiod` from now on. */
  const lead = (names: object): void => {
    // In place: a file that is gone for a moment would be read as no name.
    writeFileSync(join(folder, "zone.json"), JSON.stringify(names));
  };
  const toStandIn = () => lead({ "istiod.istio-system.svc": templatePodAddress });
  const toPortolan = () =>
    lead({
      "istiod.istio-system.svc": "portolan.portolan.svc.cluster.local.",
      "portolan.portolan.svc.cluster.local": network.hubAddress,
    });
  const answersOf = (one: PodProgram) => one.printed().trim().split("\n");
  const failures = () => callers.flatMap(answersOf).filter((answer) => !answer.startsWith("200 "));
  const allAreOf = async (name: string) => {
    for (const one of callers)
      await eventually(
        async () => answersOf(one).slice(-10),
        (last) => last.length === 10 && last.every((answer) => answer === `200 ${name}`),
        90_000,
      );
  };
  const allHaveCertificatesOf = ({ hasIssuedTo }: ReturnType<typeof server>) =>
    eventually(
      async () => pods.filter((pod) => !hasIssuedTo(pod)),
      (without) => without.length === 0,
      90_000,
    );

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "portolan-istiod-switch-"));
    execFileSync("chmod", ["755", folder]);
    makeCertificates(folder);
    const cluster = await tokenKeys();
    const key = randomBytes(32).toString("base64");
    const env = { ...process.env, PORTOLAN_SECRETS_KEY: key };
    const run = (cwd: string, ...args: readonly string[]) =>
      execFileSync(process.execPath, [cli, ...args], { cwd, encoding: "utf8", env });
    const issuers = [{ issuer, audience: ["istio-ca"], jwks: cluster.keys, clusterId: "Kubernetes" }];
    let roots = "";
    for (const name of ["stand-in", "portolan"]) {
      const own = join(folder, name);
      mkdirSync(join(own, "mesh"), { recursive: true });
      const objects = shop(name).map((one) => JSON.stringify(one));
      writeFileSync(join(own, "mesh/shop.yaml"), objects.join("\n---\n"));
      writeFileSync(join(own, "auth.json"), JSON.stringify({ issuers }));
      writeFileSync(join(own, "settings.yaml"), settings);
      writeFileSync(join(own, "key"), key);
      // The root of istiod, which workloads trust, is that of both.
      mkdirSync(join(own, "store"));
      run(own, "ca", "import", "--folder", "..", "--store", "store");
      run(own, "secret", "apply", "-f", "../edge-secret.yaml", "--store", "store");
      roots = run(own, "ca", "roots", "--store", "store");
    }
    network = openNetwork();
    standIn = server("stand-in", network.addPod(templatePodAddress));
    portolan = server("portolan", network.hub);
    const names = network.addPod(nameServerAddress);
    const outside = network.addPod(outsideAddress);
    toStandIn();
    programs.push(startIn(names, process.execPath, [nameServerProgram, nameServerAddress, join(folder, "zone.json")]));
    await Promise.all([standIn.start(), portolan.start()]);
    for (const pod of pods) {
      const role = pod === "edge" ? "router" : "sidecar";
      const add = role === "router" ? addGatewayPod : addIstioPod;
      const namespace = add(network, addresses[pod], nameServerAddress);
      namespaces.push(namespace);
      const binding = { "kubernetes.io": { namespace: "shop", pod: { name: pod }, serviceaccount: { name: pod } } };
      const token = await cluster.token(issuer, `system:serviceaccount:shop:${pod}`, "istio-ca", binding);
      const about = {
        name: pod,
        namespace: "shop",
        serviceAccount: pod,
        address: addresses[pod],
        token,
        roots,
        role,
      } as const;
      // Certificates of two minutes, of which each is in use for twelve seconds.
      const short = { SECRET_TTL: "120s", SECRET_GRACE_PERIOD_RATIO: "0.9" };
      agents.set(pod, startIstioAgent(namespace, join(folder, "pods", pod), { ...about, env: short }));
      programs.push(startIn(namespace, process.execPath, ["-e", probe]));
      if (pod === "web") programs.push(startIn(namespace, process.execPath, ["-e", app]));
    }
    for (const [pod, agent] of agents) {
      const ms = await eventually(
        async () => readyAfterMs(agent) ?? agent.printed().slice(-3_000),
        (after) => typeof after === "number",
        90_000,
      );
      console.log(`the agent of ${pod} was ready after ${ms} ms`);
    }
    const inMesh = { host: "10.96.0.10", port: 80, headers: { host: "web.shop" } };
    const byGateway = {
      host: addresses.edge,
      port: gatewayPort,
      servername: "shop.example",
      rejectUnauthorized: false,
      headers: { host: "shop.example" },
    };
    const [client = ""] = namespaces;
    callers.push(
      startIn(client, process.execPath, ["-e", caller("http", inMesh)]),
      startIn(outside, process.execPath, ["-e", caller("https", byGateway)]),
    );
    await allAreOf("stand-in");
  }, 300_000);

  afterAll(async () => {
    for (const agent of agents.values()) await agent.kill("SIGKILL");
    for (const namespace of namespaces) killAllIn(namespace);
    for (const one of [...programs, ...callers]) await one.kill("SIGKILL");
    for (const one of [standIn, portolan]) await one?.kill();
    for (const namespace of namespaces) forgetIstioPod(namespace);
    network?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("go over to Portolan by a name that stands for another, as a Service of type ExternalName, and lose no request", async () => {
    const before = failures();
    toPortolan();
    await standIn.kill();
    await allAreOf("portolan");
    await allHaveCertificatesOf(portolan);
    expect(failures()).toEqual(before);
  });

  it("go back, and lose no request", async () => {
    const before = failures();
    await standIn.start();
    toStandIn();
    await portolan.kill();
    await allAreOf("stand-in");
    await allHaveCertificatesOf(standIn);
    expect(failures()).toEqual(before);
  });
});
