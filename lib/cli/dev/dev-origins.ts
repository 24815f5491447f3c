import { PortolanError } from "../../base/diagnostic.ts";
import { type CollectorOptions, createCollector } from "../../collect/collector.ts";
import { defaultWorldOptions } from "../../compile/world/world-of.ts";
import type { ConfigSource } from "../../config/kinds/mesh-config.ts";
import { kindsAskedFor, readSourceAddress } from "../../mcp/source-address.ts";
import { connectCluster } from "../../registry/kubernetes/access/connect.ts";
import { kubernetesOrigin } from "../../registry/kubernetes/api/kubernetes-origin.ts";
import type { Origin } from "../../registry/origin/origin.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { consulOriginFor, defaultConsulFlags } from "../collect/collect-consul.ts";
import { defaultMcpFlags, mcpOriginFor } from "../collect/collect-mcp.ts";
import type { DevReport } from "./dev-report.ts";

/** A live origin beside the folder of `portolan dev`, or in its place. */
export interface DevOrigin {
  /** Name of the source that it fills. */
  readonly source: string;
  /** Where it answers. */
  readonly url: string;
  readonly description: string;
  readonly origin: Origin;
}

/** Options of `portolan dev` that name origins; whatever else they need comes from the environment. */
export interface DevOriginOptions {
  /** Contexts of kubectl, "" for the current one. */
  readonly kube?: readonly string[];
  readonly consul?: string;
  readonly mcp?: readonly string[];
}

type Warn = (text: string) => void;

export const namesOrigins = ({ kube, consul, mcp }: DevOriginOptions): boolean =>
  kube !== undefined || consul !== undefined || mcp !== undefined;

/**
 * Clusters first: the first of them is the primary one.
 *
 * @param configSources of the mesh's settings
 * @throws PortolanError for what cannot be connected: a context that is not there, an address that nothing reads
 */
export async function devOrigins(
  { kube = [], consul, mcp = [] }: DevOriginOptions,
  configSources: readonly ConfigSource[],
  warn: Warn,
): Promise<readonly DevOrigin[]> {
  const origins: DevOrigin[] = [...(await clusters(kube))];
  if (consul !== undefined) {
    const origin = await consulOriginFor({ ...defaultConsulFlags(), address: consul });
    origins.push({ source: "consul", url: consul, description: `Consul at ${consul}`, origin });
  }
  const named = mcp.map((address): ConfigSource => ({ address }));
  for (const source of [...named, ...configSources]) {
    const origin = await configOrigin(source, warn);
    if (origin !== undefined && origins.every((other) => other.source !== origin.source)) origins.push(origin);
  }
  return origins;
}

/** The first is the primary cluster, whose id is the mesh's own; the others go by their contexts' names. */
async function clusters(contexts: readonly string[]): Promise<readonly DevOrigin[]> {
  const connected = await Promise.all(contexts.map((context) => connectCluster(context === "" ? undefined : context)));
  const names = connected.map(({ context }) => context);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new PortolanError(`--kube names the context ${twice} twice`);
  return connected.map(({ client, context }, at): DevOrigin => {
    const cluster = at === 0 ? defaultWorldOptions.clusterId : context;
    return {
      source: `cluster-${context}`,
      url: client.baseUrl,
      description: `cluster ${context}`,
      origin: kubernetesOrigin(client, { cluster }),
    };
  });
}

/** @returns undefined for one that is not followed here */
async function configOrigin(source: ConfigSource, warn: Warn): Promise<DevOrigin | undefined> {
  const { address = "", tlsSettings = {} } = source;
  const read = readSourceAddress(address);
  if (read === undefined)
    throw new PortolanError(`configSources: ${JSON.stringify(address)} is no address of a source`);
  if (!("authority" in read)) {
    const instead = read.protocol === "folder" ? "collect dir" : "collect kube";
    warn(`configSources: ${address} is not read here; \`portolan ${instead}\` does`);
    return undefined;
  }
  const { mode = "DISABLE", caCertificates, clientCertificate, privateKey, sni } = tlsSettings;
  const kinds = kindsAskedFor(source);
  const flags = {
    ...defaultMcpFlags(),
    address,
    tls: mode !== "DISABLE",
    ...(kinds === undefined ? {} : { kinds }),
    ...(caCertificates === undefined ? {} : { ca: caCertificates }),
    ...(clientCertificate === undefined ? {} : { certificate: clientCertificate }),
    ...(privateKey === undefined ? {} : { key: privateKey }),
    ...(sni === undefined ? {} : { serverName: sni }),
  };
  return {
    // `xds://nacos.internal:18848` → `nacos.internal-18848`
    source: read.authority.replace(/[^A-Za-z0-9.-]+/g, "-"),
    url: address,
    description: `MCP at ${address}`,
    origin: await mcpOriginFor(flags, { err: warn }),
  };
}

/** Sources are named for what is followed: a cluster that was made anew, or another Consul, has its predecessor's. */
const takeOver = true;

/** Fills their sources with what they hold now. @throws PortolanError when one of them cannot be read */
export async function fillOnce(origins: readonly DevOrigin[], store: ObjectStore): Promise<void> {
  for (const { source, origin } of origins) await createCollector({ store, source, origin, takeOver }).once();
}

/**
 * Follows origins, each into its source.
 *
 * @param changed is called after every push from then on
 * @param stopped resolves when nobody wants to wait any longer
 * @returns when each of them was read as a whole; undefined when that was not waited for
 */
export async function followOrigins(
  origins: readonly DevOrigin[],
  store: ObjectStore,
  report: Pick<DevReport, "troubled" | "failed">,
  changed: () => void,
  stopped: Promise<unknown>,
): Promise<{ close(): Promise<void> } | undefined> {
  const stop = new AbortController();
  /** A world without one of its origins is not published. */
  let isWhole = false;
  const pushed = () => {
    if (isWhole) changed();
  };
  const running: Promise<void>[] = [];
  const filled = origins.map(
    ({ source, origin }) =>
      new Promise<void>((filled) => {
        const troubled: CollectorOptions["troubled"] = (reason) => report.troubled(source, reason);
        const collector = createCollector({ store, source, origin, takeOver, pushed, filled, troubled });
        running.push(collector.run(stop.signal).catch(report.failed));
      }),
  );
  const close = async () => {
    stop.abort();
    await Promise.all(running);
  };
  const end = await Promise.race([Promise.all(filled).then(() => "filled" as const), stopped.then(() => "stopped")]);
  if (end !== "filled") {
    await close();
    return undefined;
  }
  isWhole = true;
  return { close };
}
