import type { Diagnostic, Stage } from "../../config/diagnostic.ts";
import { isIpAddress } from "../../config/ip-address.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { Labels } from "../../config/labels.ts";
import {
  networkLabel,
  nodeLabel,
  regionLabel,
  subzoneLabel,
  type Topology,
  withTopology,
  zoneLabel,
} from "../../registry/labels.ts";
import type { RegistryState } from "../../registry/registry-state.ts";
import type { Workload } from "../../registry/service.ts";
import { metadataOf, textMap } from "./node-metadata.ts";
import type { Proxy } from "./proxy.ts";

/** A node as Envoy sends it: the proto JSON of `envoy.config.core.v3.Node`, as far as it is read. */
export interface EnvoyNode {
  readonly id: string;
  readonly cluster?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
}

/** A proxy named by hand, the form of the conformance cases' `nodes.json`. */
export interface NamedProxy {
  readonly name: string;
  readonly type: "sidecar" | "router";
  readonly ip: string | readonly string[];
  readonly namespace: string;
  readonly labels?: Labels;
  readonly serviceAccount?: string;
  readonly clusterId?: string;
  readonly network?: string;
  /** `region/zone/subzone`. */
  readonly locality?: string;
  readonly dnsDomain?: string;
  /** Over everything else. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Version that a proxy named by hand claims: the one whose answers are reproduced. */
const istioVersion = "1.30.3";
const defaultClusterId = "Kubernetes";

/** The node that an agent would send for a proxy named by hand. */
export function nodeOfNamed(named: NamedProxy, domain: string): EnvoyNode {
  const addresses = typeof named.ip === "string" ? [named.ip] : named.ip;
  const dnsDomain = named.dnsDomain ?? `${named.namespace}.svc.${domain}`;
  const [region = "", zone = "", subZone = ""] = (named.locality ?? "").split("/");
  return {
    id: `${named.type}~${addresses[0] ?? ""}~${named.name}.${named.namespace}~${dnsDomain}`,
    locality: { region, zone, subZone },
    metadata: {
      ISTIO_VERSION: istioVersion,
      NAMESPACE: named.namespace,
      CLUSTER_ID: named.clusterId ?? defaultClusterId,
      SERVICE_ACCOUNT: named.serviceAccount ?? "",
      INSTANCE_IPS: addresses.join(","),
      MESH_ID: "cluster.local",
      LABELS: named.labels ?? {},
      INTERCEPTION_MODE: "REDIRECT",
      NAME: named.name,
      ...(named.network === undefined ? {} : { NETWORK: named.network }),
      ...named.metadata,
    },
  };
}

/**
 * The proxy behind a node, with what the registries know of its workload laid over what it says of itself.
 *
 * @param node as Envoy sends it, or a proxy named by hand
 * @returns undefined, and why, for a node id that is not `type~ip~name.namespace~domain` of a sidecar or router with an
 *   address
 * @see docs/how-istio-does-it/nodes.md#identity
 */
export function proxyOf(
  node: EnvoyNode | NamedProxy,
  registry: Pick<RegistryState, "workload">,
  meshConfig: MeshConfig,
  domain = "cluster.local",
): Stage<Proxy | undefined> {
  const sent = "id" in node ? node : nodeOfNamed(node, domain);
  const [type = "", address = "", id = "", dnsDomain, ...more] = sent.id.split("~");
  const raw = sent.metadata ?? {};
  if (dnsDomain === undefined || more.length > 0) return refused(sent, "is not type~address~name.namespace~domain");
  if (type !== "sidecar" && type !== "router")
    return refused(sent, `has type ${type}, which is neither sidecar nor router`);
  const addresses = addressesOf(raw, address);
  if (addresses === undefined) return refused(sent, "has no valid address, nor has INSTANCE_IPS");
  const metadata = metadataOf(raw, meshConfig.defaultConfig);
  const namespace = text(raw.NAMESPACE) || (dnsDomain.includes(".") ? (dnsDomain.split(".")[0] ?? "") : "");
  const clusterId = text(raw.CLUSTER_ID) || defaultClusterId;
  const query = { id, namespace, addresses, clusterId, labels: textMap(raw.LABELS) };
  const workload = registry.workload(query);
  const network = text(raw.NETWORK);
  const claimedNode = text(raw.NODE_NAME);
  const base = baseLabels(raw, workload, claimedNode);
  const locality = localityOf(base, sent.locality);
  const nodeName = claimedNode || (base[nodeLabel] ?? "");
  return {
    value: {
      type,
      id,
      addresses,
      namespace,
      dnsDomain,
      clusterId,
      network,
      locality,
      nodeName,
      labels: placed(base, { clusterId, locality, nodeName, network }),
      serviceAccount: text(raw.SERVICE_ACCOUNT) || (workload?.serviceAccount ?? ""),
      nodeCluster: sent.cluster ?? "",
      metadata,
    },
    diagnostics: [],
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** `INSTANCE_IPS` if all of them are addresses, else the address of the node id. */
function addressesOf(raw: Readonly<Record<string, unknown>>, address: string): readonly string[] | undefined {
  const listed = text(raw.INSTANCE_IPS)
    .split(",")
    .filter((part) => part !== "");
  if (listed.length > 0 && listed.every(isIpAddress)) return listed;
  return isIpAddress(address) ? [address] : undefined;
}

/** The registry's labels over the static ones; the node's own where no registry knows it. */
function baseLabels(raw: Readonly<Record<string, unknown>>, workload: Workload | undefined, nodeName: string): Labels {
  if (workload === undefined) return textMap(raw.LABELS);
  return { ...textMap(raw.STATIC_LABELS), ...placed(workload.labels, { ...workload, nodeName }) };
}

/** Labels with those that stand for where a workload runs, as far as that is known; a network label of its own stays. */
function placed(labels: Labels, topology: Topology): Labels {
  return withTopology(labels, { ...topology, network: labels[networkLabel] || topology.network });
}

/** Topology labels, else the label `istio-locality` (`region.zone.subzone`), else what the node says. */
function localityOf(labels: Labels, sent: EnvoyNode["locality"]): string {
  const byTopology = [labels[regionLabel], labels[zoneLabel], labels[subzoneLabel]];
  if (byTopology.some((part) => part !== undefined)) return localityText(byTopology);
  const legacy = labels["istio-locality"];
  if (legacy !== undefined && legacy !== "") return legacy.includes("/") ? legacy : legacy.replaceAll(".", "/");
  return localityText([sent?.region, sent?.zone, sent?.subZone]);
}

/** Joined by `/`, without empty parts at the end. */
function localityText(parts: readonly (string | undefined)[]): string {
  return parts
    .map((part) => part ?? "")
    .join("/")
    .replace(/\/+$/, "");
}

function refused(node: EnvoyNode, why: string): Stage<undefined> {
  const diagnostic: Diagnostic = {
    code: "node-id-invalid",
    severity: "error",
    origin: { key: { group: "", kind: "Node", name: node.id, namespace: "" }, file: "", line: 0 },
    path: ["id"],
    message: `node id ${JSON.stringify(node.id)} ${why}`,
    hint: "for example sidecar~10.0.0.5~web-0.default~default.svc.cluster.local",
  };
  return { value: undefined, diagnostics: [diagnostic] };
}
