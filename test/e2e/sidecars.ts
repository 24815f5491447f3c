/** A server and two clients with sidecars and certificates on one machine: what passes between them is decided by policies. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { FormName } from "../../lib/mesh/forms.ts";
import { withCertificateFiles } from "../../lib/xds/certificate-files.ts";
import { generate } from "../../lib/xds/generate.ts";
import { isJsonObject, type JsonObject, mapJson } from "../../lib/xds/map-json.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { freePort } from "../free-port.ts";
import { proxyOfNamed } from "../named-proxy.ts";
import { wholeResources } from "../whole-resources.ts";
import { createAuthority, issueIdentity } from "./certificates.ts";
import { startEnvoy } from "./envoy.ts";
import { startUpstream } from "./upstream.ts";

/** Of the pods, by name. */
export const addresses = { server: "127.0.0.11", client: "127.0.0.12", stranger: "127.0.0.13" } as const;
/** The service's own name. */
export const host = "server.default.svc.cluster.local";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface RunningSidecars {
  /** One request through the sidecar of a client, for the service. */
  ask(who: "client" | "stranger", path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** One request in plain text, straight to the server's listener. */
  askPlainly(path: string): Promise<Answer>;
  /** An admin page of a workload's Envoy. */
  admin(who: keyof typeof addresses, path: string): Promise<string>;
  /** A good token of an issuer. */
  token(issuer: string): Promise<string>;
  stop(): Promise<void>;
}

/** Numbers that the machine had free. */
export interface Ports {
  readonly server: number;
  readonly service: number;
  readonly app: number;
}

/** One request on a connection of its own. */
export function get(options: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, agent: false }, (response) => {
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

/** @param apiVersion without `istio.io` in its group: `security/v1` */
export const istio = (kind: string, apiVersion: string, name: string, spec: object) => ({
  apiVersion: apiVersion.replace("/", ".istio.io/"),
  kind,
  metadata: { name, namespace: "default" },
  spec,
});

/** Listeners bind where the workload is, so that no traffic has to be intercepted. */
function sidecarOf(name: string, parts: object) {
  return istio("Sidecar", "networking/v1", name, { workloadSelector: { labels: { app: name } }, ...parts });
}

const clientEgress = (ip: string, { service }: Ports) => ({
  egress: [
    { port: { number: service, name: "http", protocol: "HTTP" }, bind: ip, captureMode: "NONE", hosts: ["./*"] },
  ],
});

/** A service with a sidecar, and two clients with theirs. */
export function workloads(ports: Ports): readonly object[] {
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "server", namespace: "default" },
      spec: {
        clusterIP: "10.0.0.1",
        selector: { app: "server" },
        ports: [{ name: "http", port: ports.service, targetPort: ports.server }],
      },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "server-1", namespace: "default", labels: { "kubernetes.io/service-name": "server" } },
      addressType: "IPv4",
      endpoints: [
        {
          addresses: [addresses.server],
          conditions: { ready: true },
          targetRef: { kind: "Pod", name: "server", namespace: "default" },
        },
      ],
      ports: [{ name: "http", port: ports.server }],
    },
    ...Object.entries(addresses).map(([name, ip]) => pod(name, ip)),
    sidecarOf("server", {
      ingress: [
        {
          port: { number: ports.server, name: "http", protocol: "HTTP" },
          bind: addresses.server,
          captureMode: "NONE",
          defaultEndpoint: `127.0.0.1:${ports.app}`,
        },
      ],
      egress: [{ hosts: ["~/*"] }],
    }),
    sidecarOf("client", clientEgress(addresses.client, ports)),
    sidecarOf("stranger", clientEgress(addresses.stranger, ports)),
  ];
}

/** Route tables inside the listeners: these proxies have no server to poll. */
export function inlineRoutes(tables: ReadonlyMap<string, object>): (object: JsonObject) => JsonObject {
  return (object) => {
    if (!isJsonObject(object.rds)) return object;
    const { rds, ...rest } = object;
    return { ...rest, routeConfig: tables.get(String(rds.routeConfigName)) };
  };
}

/** Where workloads have their certificates from. */
export interface Identities {
  /** File with the roots. */
  readonly roots: string;
  /** Folder with the files of a workload, by the name of its service account. */
  folderOf(serviceAccount: string): string | Promise<string>;
}

/** From OpenSSL. */
function opensslIdentities(directory: string): Identities {
  const roots = createAuthority(directory);
  return { roots, folderOf: (name) => issueIdentity(roots, `spiffe://cluster.local/ns/default/sa/${name}`) };
}

/**
 * @param policies what to write besides the workloads, given the keys of tokens
 * @param mayRefuse whether some of it may be refused; false when absent
 * @param identitiesIn given a folder for their files; from OpenSSL when absent
 */
export async function startSidecars(
  policies: (jwks: string) => readonly object[],
  compat: FormName = "shared",
  mayRefuse = false,
  identitiesIn: (directory: string) => Identities | Promise<Identities> = opensslIdentities,
): Promise<RunningSidecars> {
  const directory = mkdtempSync(join(tmpdir(), "portolan-mtls-"));
  const app = await startUpstream("the app");
  const ports: Ports = { server: await freePort(), service: await freePort(), app: app.port };
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };
  const objects = [...workloads(ports), ...policies(JSON.stringify({ keys: [key] }))];
  const envoys = await startProxies(objects, await identitiesIn(directory), compat, mayRefuse);
  return {
    ask: (who, path, headers = {}) =>
      get({ host: addresses[who], port: ports.service, path, headers: { host, ...headers } }),
    askPlainly: (path) => get({ host: addresses.server, port: ports.server, path }),
    admin: async (who, path) => (await envoys[Object.keys(addresses).indexOf(who)]?.admin(path)) ?? "",
    token: (issuer) =>
      new SignJWT({})
        .setProtectedHeader({ alg: "RS256", kid: "k" })
        .setIssuer(issuer)
        .setSubject("me")
        .setExpirationTime("1h")
        .sign(privateKey),
    stop: async () => {
      for (const envoy of envoys) await envoy.stop();
      await app.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startProxies(objects: readonly object[], identities: Identities, compat: FormName, mayRefuse: boolean) {
  const memo = createMemo();
  const text = objects.map((each) => JSON.stringify(each));
  const loaded = readFiles([{ file: "input.yaml", text: text.join("\n---\n") }]);
  const refused = loaded.diagnostics.filter(({ severity }) => severity === "error");
  if (refused.length > 0 && !mayRefuse) throw new Error(refused.map(({ message }) => message).join("\n"));
  const world = worldOf(loaded, { ...defaultWorldOptions, compat }, memo).value;
  const mesh = buildMesh(world, memo).value;
  return Promise.all(
    Object.entries(addresses).map(async ([name, ip]) => {
      const node = {
        name,
        type: "sidecar",
        ip,
        namespace: "default",
        serviceAccount: name,
        labels: { app: name },
        metadata: { INTERCEPTION_MODE: "NONE" },
      } as const;
      const proxy = proxyOfNamed(node, world.registry, world.meshConfig).value;
      if (proxy === undefined) throw new Error(`no proxy ${name}`);
      const files = await identities.folderOf(name);
      const polled = pollShape(generate(mesh, proxy, memo).value, memo);
      const shape = wholeResources(
        withCertificateFiles(polled, { directory: files, systemRoots: identities.roots }, memo),
      );
      const tables = new Map(shape.routes.map((table) => [table.name, table.json]));
      const bootstrap = bootstrapOf({
        nodeId: `sidecar~${ip}~${name}.default~default.svc.cluster.local`,
        nodeCluster: name,
        metadata: {},
        adminPort: 0,
        server: { host: "127.0.0.1", port: 9 },
      });
      const { dynamicResources: _polls, ...rest } = bootstrap;
      return startEnvoy({
        ...rest,
        staticResources: {
          clusters: [...(rest.staticResources?.clusters ?? []), ...shape.clusters.map(({ json }) => json)],
          listeners: shape.listeners.map(({ json }) => mapJson(json, inlineRoutes(tables))),
        },
      });
    }),
  );
}
