import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { isRecord } from "../../base/classifier.ts";
import { PortolanError, type Stage } from "../../base/diagnostic.ts";
import { defaultProxyConfig, type ProxyConfig } from "../../config/kinds/mesh-config.ts";
import { mergeProxyConfig } from "../../config/read-mesh-config.ts";
import { readProxySettings } from "../../config/read-proxy-settings.ts";
import { type AgentNode, nodeOfStart, type WorkloadNode } from "../../mesh/proxy/agent-node.ts";
import { startOfContainer } from "../../mesh/proxy/container-start.ts";
import { readAnnotations } from "../../mesh/proxy/workload-annotations.ts";
import type { Workload } from "../../registry/service.ts";
import { textIfThere, textOfFile } from "../named-file.ts";

/** A proxy that a bootstrap is written for, wherever it was described. */
export interface BootstrapProxy extends WorkloadNode {
  readonly addresses: readonly string[];
}

/** Where the downward API puts labels and annotations of a pod, as injection mounts them. */
export const podInfoFolder = "/etc/istio/pod";

/**
 * The proxy of the pod that this runs in: from the variables and files that Istio's injection gives a proxy's container.
 *
 * @param podInfo folder with the files `labels` and `annotations`; what is not there is empty
 * @returns the diagnostics of variables and annotations that cannot be read
 * @throws PortolanError when the variables say of no pod, or a file exists and cannot be read
 */
export async function proxyOfThisPod(
  environment: Readonly<Record<string, string>>,
  type: "sidecar" | "router",
  podInfo: string,
): Promise<Stage<BootstrapProxy>> {
  const { POD_NAME: name, POD_NAMESPACE: namespace, SERVICE_ACCOUNT: serviceAccount = "", HOST_IP = "" } = environment;
  if (name === undefined || namespace === undefined)
    throw new PortolanError(
      "no pod: POD_NAME and POD_NAMESPACE are not set; a container has them by the downward API (fieldRef metadata.name and metadata.namespace)",
    );
  const addresses = addressesIn(environment);
  // Labels decide which policies apply, so a file that is there has to be read.
  const file = async (part: string) => (await textIfThere(join(podInfo, part))) ?? "";
  const origin = { file: "this pod", line: 0, key: { group: "", kind: "Pod", namespace, name } } as const;
  const workload: Workload = {
    kind: "Pod",
    name,
    namespace,
    clusterId: environment.ISTIO_META_CLUSTER_ID ?? "",
    addresses,
    labels: downwardMap(await file("labels")),
    annotations: downwardMap(await file("annotations")),
    serviceAccount,
    locality: environment.PORTOLAN_LOCALITY ?? "",
    network: environment.ISTIO_META_NETWORK ?? "",
    nodeName: environment.ISTIO_META_NODE_NAME ?? "",
    ready: true,
    origin,
    pod: {
      owner: { apiVersion: "v1", kind: "Pod", name },
      appContainers: [],
      hostAddress: HOST_IP,
      proxyContainer: undefined,
    },
  };
  const annotations = readAnnotations(workload);
  const domain = environment.DOMAIN ?? `${namespace}.svc.cluster.local`;
  const container = { args: ["proxy", type, "--domain", domain], environment, elsewhere: [], image: "", path: [] };
  const start = startOfContainer(workload, container, type);
  const made = nodeOfStart(start.value, workload, annotations.value);
  return {
    value: { ...made.value, addresses },
    diagnostics: [annotations, start, made].flatMap(({ diagnostics }) => diagnostics),
  };
}

/** `INSTANCE_IPS`, else `INSTANCE_IP`, else what the machine's interfaces have. */
function addressesIn({ INSTANCE_IPS, INSTANCE_IP }: Readonly<Record<string, string>>): readonly string[] {
  const said = INSTANCE_IPS || INSTANCE_IP;
  if (said) return said.split(",");
  const own = Object.values(networkInterfaces())
    .flat()
    .flatMap((one) => (one === undefined || one.internal || one.address.startsWith("fe80") ? [] : [one.address]));
  return own.length === 0 ? ["127.0.0.1"] : own;
}

/** A file of the downward API: `key="value"`, one a line, the value quoted as in Go. */
export function downwardMap(text: string): Readonly<Record<string, string>> {
  const entries = text.split("\n").flatMap((line): readonly (readonly [string, string])[] => {
    const at = line.indexOf("=");
    if (at < 1) return [];
    return [[line.slice(0, at), unquoted(line.slice(at + 1).trim())]];
  });
  return Object.fromEntries(entries);
}

/** Of Go's escapes those that JSON has not are rare: `\a`, `\v`, `\xNN`, `\UNNNNNNNN`. */
function unquoted(text: string): string {
  const json = text
    .replace(/\\x([0-9a-f]{2})/gi, "\\u00$1")
    .replace(/\\U([0-9a-f]{8})/gi, (_all, code) =>
      JSON.stringify(String.fromCodePoint(Number.parseInt(code, 16))).slice(1, -1),
    );
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : text;
  } catch {
    return text.replace(/^"|"$/g, "");
  }
}

/**
 * The proxy whose node a file has, as `portolan bootstrap --json` lists them, or a bootstrap in JSON.
 *
 * @throws PortolanError when it has none
 */
export async function proxyInFile(file: string): Promise<BootstrapProxy> {
  const text = await textOfFile(file);
  const node = nodeIn(parsed(text));
  if (node === undefined) throw new PortolanError(`${file} has no node: JSON with id, cluster and metadata is wanted`);
  const { INSTANCE_IPS, PROXY_CONFIG } = node.metadata;
  const said = typeof INSTANCE_IPS === "string" ? INSTANCE_IPS : (node.id.split("~")[1] ?? "");
  return { node, settings: settingsIn(PROXY_CONFIG), addresses: said.split(",") };
}

function settingsIn(json: unknown): ProxyConfig {
  if (typeof json !== "object" || json === null) return defaultProxyConfig;
  return mergeProxyConfig(defaultProxyConfig, readProxySettings(JSON.stringify(json)).spec ?? {});
}

function nodeIn(json: unknown): AgentNode | undefined {
  if (!isRecord(json)) return undefined;
  if (isRecord(json.node)) return nodeIn(json.node);
  const { id, cluster = "", metadata = {}, locality } = json;
  if (typeof id !== "string" || typeof cluster !== "string" || !isRecord(metadata)) return undefined;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return {
    id,
    cluster,
    metadata,
    ...(isRecord(locality)
      ? {
          locality: {
            region: text(locality.region),
            zone: text(locality.zone),
            subZone: text(locality.subZone ?? locality.sub_zone),
          },
        }
      : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
