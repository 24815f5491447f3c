import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono/tiny";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront, type Front } from "../../lib/front/front.ts";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { defaultCertificateFiles } from "../../lib/xds/certificate-files.ts";
import { freePort } from "../free-port.ts";
import { createAuthority, issueIdentity } from "./certificates.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { istio } from "./sidecars.ts";

const address = "127.0.0.11";

const pod = (name: string, ip: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "default",
    labels: { app: name, "security.istio.io/tlsMode": "istio" },
    annotations: { "sidecar.istio.io/status": "{}", "sidecar.istio.io/interceptionMode": "NONE" },
  },
  spec: { serviceAccountName: name, containers: [{ name: "istio-proxy" }] },
  status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] },
});

/** A guarded workload, and one beside it that nothing guards. Both listen where the first one is. */
function objects(port: number, appPort: number): readonly object[] {
  const ingress = (name: string) =>
    istio("Sidecar", "networking/v1", name, {
      workloadSelector: { labels: { app: name } },
      ingress: [
        {
          port: { number: port, name: "http", protocol: "HTTP" },
          bind: address,
          captureMode: "NONE",
          defaultEndpoint: `127.0.0.1:${appPort}`,
        },
      ],
      egress: [{ hosts: ["~/*"] }],
    });
  const selector = { matchLabels: { app: "guarded" } };
  return [
    pod("guarded", address),
    pod("open", "127.0.0.12"),
    ingress("guarded"),
    ingress("open"),
    istio("PeerAuthentication", "security/v1", "strict", { selector, mtls: { mode: "STRICT" } }),
    istio("PeerAuthentication", "security/v1", "disabled", {
      selector: { matchLabels: { app: "open" } },
      mtls: { mode: "DISABLE" },
    }),
    istio("AuthorizationPolicy", "security/v1", "nobody", { selector, action: "DENY", rules: [{}] }),
  ];
}

let directory: string;
let front: Front;
let server: RunningServer;
let envoy: RunningEnvoy;
let port: number;
let node: { readonly id: string; readonly cluster: string; readonly metadata: object };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "portolan-poisoning-"));
  port = await freePort();
  const text = objects(port, await freePort()).map((each) => JSON.stringify(each));
  const files = [{ file: "input.yaml", text: text.join("\n---\n") }];
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "files" });
  await publisher.publish(compile(files, []).value, await publisher.head());

  front = createFront({ store, maxHoldMs: 200 });
  const served = frontApp(front);
  const certificates = issueIdentity(createAuthority(directory), "spiffe://cluster.local/ns/default/sa/guarded");
  // The certificates of this machine's Envoy lie elsewhere.
  const app = new Hono();
  app.all("*", async (c) => {
    const answer = await served.fetch(c.req.raw, c.env);
    if (answer.status !== 200) return answer;
    return c.body((await answer.text()).replaceAll(defaultCertificateFiles.directory, certificates));
  });
  server = await serveHttp(app, 0);

  const guarded = proxiesIn(files).find(({ proxy }) => proxy.id === "guarded.default");
  if (guarded === undefined) throw new Error("there is a guarded proxy");
  node = guarded.node;
  envoy = await startEnvoy(bootstrapFor(guarded, server.url, 0));
});

afterAll(async () => {
  await envoy.stop();
  front.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** How a set of listeners protects what is behind it. */
function guardsIn(listeners: string) {
  const count = (pattern: RegExp) => [...listeners.matchAll(pattern)].length;
  return {
    rbac: count(/envoy\.filters\.http\.rbac"/g),
    tls: count(/extensions\.transport_sockets\.tls\.v3\.DownstreamTlsContext/g),
  };
}

const activeGuards = async () => guardsIn(await envoy.admin("/config_dump?resource=dynamic_listeners"));

/** A poll in the victim's name, with the labels and the account of another workload. */
async function impersonate(type: "clusters" | "listeners", version?: string): Promise<string> {
  const labels = { app: "open", "security.istio.io/tlsMode": "istio" };
  const claimed = { ...node, metadata: { ...node.metadata, LABELS: labels, SERVICE_ACCOUNT: "open" } };
  const body = JSON.stringify({ node: claimed, ...(version === undefined ? {} : { version_info: version }) });
  const answer = await fetch(`${server.url}/v3/discovery:${type}`, { method: "POST", body });
  return answer.text();
}

const isPlainTextTaken = () =>
  fetch(`http://${address}:${port}/`).then(
    () => true,
    () => false,
  );

const stat = async (name: string) => Number((await envoy.stat(name)) ?? 0);

describe("an Envoy under DENY and STRICT", () => {
  it("keeps both, whatever a stranger says in its name", async () => {
    const guarded = await eventually(activeGuards, ({ rbac }) => rbac > 0);
    expect(guarded.tls).toBeGreaterThan(0);
    await eventually(
      () => stat("listener_manager.total_listeners_active"),
      (count) => count > 0,
    );
    expect(await isPlainTextTaken()).toBe(false);
    const updates = await stat("listener_manager.lds.update_success");

    // The stranger is told what the other class is told, which is open to everybody.
    const answer = await impersonate("listeners");
    expect(guardsIn(answer)).toEqual({ rbac: 0, tls: 0 });
    expect(answer).toContain(address);
    const [, version] = /"version_info":"([^"]+)"/.exec(answer) ?? [];
    const attempts = await stat("listener_manager.lds.update_attempt");
    // The victim polls several times meanwhile.
    await eventually(
      async () => {
        await Promise.all([impersonate("listeners"), impersonate("listeners", version), impersonate("clusters")]);
        return stat("listener_manager.lds.update_attempt");
      },
      (count) => count >= attempts + 4,
      20_000,
    );
    expect(await activeGuards()).toEqual(guarded);
    expect(await stat("listener_manager.lds.update_success")).toBe(updates);
    expect(await isPlainTextTaken()).toBe(false);
  }, 60_000);
});
