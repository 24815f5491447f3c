/** One sidecar whose traffic is captured: what a node's packet filter would say of a connection, the PROXY protocol says here. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { FormName } from "../../lib/mesh/forms.ts";
import { withCertificateFiles } from "../../lib/xds/certificate-files.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type JsonObject, mapJson } from "../../lib/xds/map-json.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { freePort } from "../free-port.ts";
import { proxyOfNamed } from "../named-proxy.ts";
import { wholeResources } from "../whole-resources.ts";
import { createAuthority, issueIdentity } from "./certificates.ts";
import { type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { inlineRoutes } from "./sidecars.ts";

export interface CapturedPod {
  readonly ip: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface CapturedSidecar {
  readonly envoy: RunningEnvoy;
  /** Names of all filter chains. */
  readonly chains: readonly string[];
  /** Sends a text as the pod's application and gives what came back, "" when the connection was refused or reset. */
  outbound(to: string, port: number, text: string): Promise<string>;
  /** The same from elsewhere, to the pod. */
  inward(port: number, text: string): Promise<string>;
}

/** @param files of a folder, by name */
export async function startCaptured(
  files: Readonly<Record<string, readonly object[]>>,
  { ip, labels }: CapturedPod,
  compat: FormName,
): Promise<CapturedSidecar> {
  const memo = createMemo();
  const loaded = readFiles(
    Object.entries(files).map(([file, objects]) => ({
      file,
      text: objects.map((each) => JSON.stringify(each)).join("\n---\n"),
    })),
  );
  const refused = loaded.diagnostics.filter(({ severity }) => severity === "error");
  if (refused.length > 0) throw new Error(refused.map(({ message }) => message).join("\n"));
  const world = worldOf(loaded, { ...defaultWorldOptions, compat }, memo).value;
  const node = { name: "web-0", type: "sidecar", ip, namespace: "default", serviceAccount: "web", labels } as const;
  const proxy = proxyOfNamed(node, world.registry, world.meshConfig).value;
  if (proxy === undefined) throw new Error("no proxy");
  const directory = mkdtempSync(join(tmpdir(), "portolan-captured-"));
  const authority = createAuthority(directory);
  const identity = issueIdentity(authority, "spiffe://cluster.local/ns/default/sa/web");
  const polled = pollShape(generate(buildMesh(world, memo).value, proxy, memo).value, memo);
  const shape = wholeResources(withCertificateFiles(polled, { directory: identity, systemRoots: authority }, memo));
  const tables = new Map(shape.routes.map((table) => [table.name, table.json]));
  const ports = { virtualOutbound: await freePort(), virtualInbound: await freePort() };
  const { dynamicResources: _polls, ...rest } = bootstrapOf({
    nodeId: `sidecar~${ip}~web-0.default~default.svc.cluster.local`,
    nodeCluster: "web.default",
    metadata: {},
    adminPort: 0,
    server: { host: "127.0.0.1", port: 9 },
  });
  const listeners = shape.listeners.map(({ json }) => captured(mapJson(json, inlineRoutes(tables)), ports));
  const envoy = await startEnvoy({
    ...rest,
    layeredRuntime: { layers: [{ name: "spans", staticLayer: spansAtOnce }] },
    staticResources: {
      clusters: [...(rest.staticResources?.clusters ?? []), ...shape.clusters.map(({ json }) => json)],
      listeners,
    },
  });
  const stop = async () => {
    await envoy.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    envoy: { ...envoy, stop },
    chains: JSON.stringify(listeners).match(/(?<="name":")[^"]+(?=","filterChainMatch")/g) ?? [],
    outbound: (to, port, text) => say(ports.virtualOutbound, { from: ip, to, port }, text),
    inward: (port, text) => say(ports.virtualInbound, { from: "127.0.0.99", to: ip, port }, text),
  };
}

const spansAtOnce = {
  "tracing.zipkin.min_flush_spans": 1,
  "tracing.opentelemetry.min_flush_spans": 1,
} as const;

/** The two listeners that traffic is captured by, at a port that is free, told by a header where it was going. */
function captured(
  listener: unknown,
  ports: Readonly<Record<"virtualOutbound" | "virtualInbound", number>>,
): JsonObject {
  const { name, listenerFilters, ...rest } = asFields(listener);
  if (name !== "virtualOutbound" && name !== "virtualInbound") return { ...rest, name, listenerFilters };
  const others = Array.isArray(listenerFilters) ? listenerFilters : [];
  const told = {
    name: "envoy.filters.listener.proxy_protocol",
    typedConfig: {
      "@type": "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
    },
  };
  return {
    ...rest,
    name,
    address: { socketAddress: { address: "127.0.0.1", portValue: ports[name] } },
    listenerFilters: [
      told,
      ...others.filter((filter) => asFields(filter).name !== "envoy.filters.listener.original_dst"),
    ],
  };
}

const asFields = (value: unknown): JsonObject => (typeof value === "object" && value !== null ? { ...value } : {});

interface Connection {
  readonly from: string;
  readonly to: string;
  readonly port: number;
}

function say(at: number, { from, to, port }: Connection, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(at, "127.0.0.1");
    let answer = "";
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on("data", (data) => {
      answer += data;
    });
    socket.once("error", () => resolve(answer));
    socket.once("close", () => resolve(answer));
    socket.write(`PROXY TCP4 ${from} ${to} 40000 ${port}\r\n${text}`);
  });
}
