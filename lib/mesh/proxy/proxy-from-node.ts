import { localityText } from "../../base/classifier.ts";
import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { stringsOf } from "../../base/untyped.ts";
import type { MeshConfig, ProxyConfig } from "../../config/kinds/mesh-config.ts";
import { proxySettingsOf } from "../../config/read-proxy-settings.ts";
import { isIpAddress } from "../../config/values/ip-address.ts";
import type { Labels } from "../../config/values/labels.ts";
import type { RegistryState } from "../../registry/changes/registry-state.ts";
import {
  networkLabel,
  nodeLabel,
  regionLabel,
  subzoneLabel,
  type Topology,
  withTopology,
  zoneLabel,
} from "../../registry/labels.ts";
import { statedLocality } from "../../registry/locality.ts";
import type { Workload } from "../../registry/service.ts";
import { metadataOf } from "./node-metadata.ts";
import type { Proxy } from "./proxy.ts";

/** A node as Envoy sends it: the proto JSON of `envoy.config.core.v3.Node`, as far as it is read. */
export interface EnvoyNode {
  readonly id: string;
  readonly cluster?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
}

const defaultClusterId = "Kubernetes";

/**
 * The proxy behind a node, with what the registries know of its workload laid over what it says of itself.
 *
 * @param settings that the node runs with, where they are known; else its `PROXY_CONFIG` says them, and of a node without one
 *   the mesh's count. One that has it has the mesh's in it, as they were when the proxy was started.
 * @returns undefined, and why, for a node id that is not `type~ip~name.namespace~domain` of a sidecar or router with an
 *   address
 * @see docs/how-istio-does-it/nodes.md#identity
 */
export function proxyOf(
  sent: EnvoyNode,
  registry: Pick<RegistryState, "workload">,
  meshConfig: Pick<MeshConfig, "defaultConfig">,
  settings?: ProxyConfig,
): Stage<Proxy | undefined> {
  const [type = "", address = "", id = "", dnsDomain, ...more] = sent.id.split("~");
  const raw = sent.metadata ?? {};
  if (dnsDomain === undefined || more.length > 0) return refused(sent, "is not type~address~name.namespace~domain");
  if (type !== "sidecar" && type !== "router")
    return refused(sent, `has type ${type}, which is neither sidecar nor router`);
  const addresses = addressesOf(raw, address);
  if (addresses === undefined) return refused(sent, "has no valid address, nor has INSTANCE_IPS");
  const claimed = () => (raw.PROXY_CONFIG === undefined ? meshConfig.defaultConfig : proxySettingsOf(raw.PROXY_CONFIG));
  const metadata = metadataOf(raw, settings ?? claimed());
  const namespace = text(raw.NAMESPACE) || (dnsDomain.includes(".") ? (dnsDomain.split(".")[0] ?? "") : "");
  const clusterId = text(raw.CLUSTER_ID) || defaultClusterId;
  const query = { id, namespace, addresses, clusterId, labels: stringsOf(raw.LABELS) };
  const workload = registry.workload(query);
  const network = text(raw.NETWORK);
  const claimedNode = text(raw.NODE_NAME);
  const base = baseLabels(raw, workload, claimedNode);
  const locality = localityOf(base, sent.locality);
  const nodeName = claimedNode || (base[nodeLabel] ?? "");
  return {
    value: {
      type: raw.GENERATOR === "grpc" ? "grpc" : type,
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
  const only = text(raw.INSTANCE_IPS);
  if (isIpAddress(only)) return [only];
  const listed = only.split(",").filter((part) => part !== "");
  // A copy is as long as it is; a list that has grown keeps room for seventeen, for each proxy of the mesh.
  if (listed.length > 0 && listed.every(isIpAddress)) return listed.slice();
  return isIpAddress(address) ? [address] : undefined;
}

/** The registry's labels over the static ones; the node's own where no registry knows it. */
function baseLabels(raw: Readonly<Record<string, unknown>>, workload: Workload | undefined, nodeName: string): Labels {
  if (workload === undefined) return stringsOf(raw.LABELS);
  const { clusterId, locality, network } = workload;
  const known = placed(workload.labels, { clusterId, locality, nodeName, network });
  return raw.STATIC_LABELS === undefined ? known : { ...stringsOf(raw.STATIC_LABELS), ...known };
}

/** Labels with those that stand for where a workload runs, as far as that is known; a network label of its own stays. */
function placed(labels: Labels, topology: Topology): Labels {
  const own = labels[networkLabel];
  return withTopology(labels, own ? { ...topology, network: own } : topology);
}

/** Topology labels, else the label that states it, else what the node says. */
function localityOf(labels: Labels, sent: EnvoyNode["locality"]): string {
  const byTopology = [labels[regionLabel], labels[zoneLabel], labels[subzoneLabel]] as const;
  if (byTopology.some((part) => part !== undefined)) return localityText(...byTopology);
  return statedLocality(labels) || (sent === undefined ? "" : localityText(sent.region, sent.zone, sent.subZone));
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
