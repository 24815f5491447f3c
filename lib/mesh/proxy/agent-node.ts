import type { Stage } from "../../base/diagnostic.ts";
import { at, warning } from "../../config/finding.ts";
import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { Labels } from "../../config/values/labels.ts";
import { type Memo, noMemo } from "../../incremental/memo.ts";
import { templateHashLabel } from "../../registry/labels.ts";
import type { Workload } from "../../registry/service.ts";
import { flagOf, metadataOfEnvironment } from "./environment-metadata.ts";
import { nodeClusterOf } from "./node-cluster.ts";
import type { EnvoyNode } from "./proxy-from-node.ts";
import { overlaid } from "./proxy-settings.ts";
import type { ProxyStart } from "./proxy-start.ts";
import { expandedSettings, settingsJson } from "./settings-json.ts";
import type { AnnotatedSettings } from "./workload-annotations.ts";

/** A node as Istio's agent writes it. */
export interface AgentNode extends EnvoyNode {
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The node of a workload's proxy, and the settings that it runs with. */
export interface WorkloadNode {
  readonly node: AgentNode;
  readonly settings: ProxyConfig;
}

/** Ports of the agent's own listeners, unless its environment says otherwise. */
const statusPort = 15021;
const prometheusPort = 15090;

/** Of all annotations only these are read of a node; every poll would carry the others. */
const readAnnotations = "resource.opentelemetry.io/";

/**
 * The node that Istio's agent writes into Envoy's bootstrap. What only says something of the agent's own process is left
 * out.
 *
 * @returns diagnostics `proxy-environment-invalid` for variables that cannot be read
 * @see docs/how-istio-does-it/nodes.md#the-agent
 * @see istio 1.30.3 pkg/bootstrap/config.go, GetNodeMetaData
 * @see istio 1.30.3 pilot/cmd/pilot-agent/config/config.go, ConstructProxyConfig
 */
export function nodeOfStart(
  start: ProxyStart,
  workload: Workload,
  annotations: AnnotatedSettings,
  memo: Memo = noMemo,
): Stage<WorkloadNode> {
  const { environment } = start;
  const settings = agentSettings(start, annotations, workload.pod?.hostAddress ?? "", memo);
  const read = metadataOfEnvironment(environment, settings.proxyMetadata);
  const name = environment.POD_NAME ?? workload.name;
  const namespace = environment.POD_NAMESPACE ?? workload.namespace;
  const labels = labelsOf(read.staticLabels, start.labels);
  const annotated = annotationsOf(workload);
  // Field by field: there are some twenty for each of ten thousand pods, and a literal of several layers copies those of each.
  const metadata: Record<string, unknown> = { ISTIO_VERSION: start.istioVersion, ...read.metadata };
  metadata.NAME = name;
  metadata.NAMESPACE = namespace;
  if (environment.SERVICE_ACCOUNT !== undefined) metadata.SERVICE_ACCOUNT = environment.SERVICE_ACCOUNT;
  metadata.INSTANCE_IPS = workload.addresses.join(",");
  metadata.ENVOY_STATUS_PORT = portOf(environment.ENVOY_STATUS_PORT) ?? statusPort;
  metadata.ENVOY_PROMETHEUS_PORT = portOf(environment.ENVOY_PROMETHEUS_PORT) ?? prometheusPort;
  if (flagOf(environment.EXIT_ON_ZERO_ACTIVE_CONNECTIONS)) metadata.EXIT_ON_ZERO_ACTIVE_CONNECTIONS = "true";
  metadata.LABELS = labels;
  if (Object.keys(read.staticLabels).length > 0) metadata.STATIC_LABELS = read.staticLabels;
  if (annotated !== undefined) metadata.ANNOTATIONS = annotated;
  metadata.PROXY_CONFIG = settingsJson(memo, { settings });
  const { WORKLOAD_NAME: stated } = read.metadata;
  const workloadName = typeof stated === "string" ? stated : "";
  const [region = "", zone = "", subZone = ""] = workload.locality.split("/");
  const node: AgentNode = {
    id: [start.type, workload.addresses[0] ?? "", `${name}.${namespace}`, start.dnsDomain].join("~"),
    cluster: nodeClusterOf(settings, { namespace, workloadName, labels }),
    ...(workload.locality === "" ? {} : { locality: { region, zone, subZone } }),
    metadata: sortedFields(metadata),
  };
  const path = [...(workload.pod?.proxyContainer?.path ?? []), "env"];
  const diagnostics = Object.entries(read.unreadable).map(([variable, why]) =>
    at(workload.origin, warning([...path, variable], why, "it counts as absent", "proxy-environment-invalid")),
  );
  return { value: { node, settings }, diagnostics };
}

/** Annotations over what the agent was started with; without a number of threads it takes its CPU limit. */
function agentSettings(
  { settings, environment }: ProxyStart,
  { settings: annotated, overrides }: AnnotatedSettings,
  hostAddress: string,
  memo: Memo,
): ProxyConfig {
  const merged = overlaid(settings, [annotated, overrides]);
  const limit = Number(environment.ISTIO_CPU_LIMIT ?? 0);
  const known = merged.concurrency === undefined && limit > 0 ? { ...merged, concurrency: limit } : merged;
  return withHostAddress(known, hostAddress, memo);
}

/** The kubelet does not expand annotations; the agent knows this one name, for collectors that run on each node. */
function withHostAddress(settings: ProxyConfig, address: string, memo: Memo): ProxyConfig {
  if (address === "") return settings;
  return expandedSettings(settings, (text) => text.replaceAll("$(HOST_IP)", address), memo);
}

/** The static ones under the workload's, without the one that only its ReplicaSet reads. */
function labelsOf(staticLabels: Labels, own: Labels): Labels {
  const labels: Record<string, string> = {};
  for (const some of [staticLabels, own])
    for (const name in some) if (name !== templateHashLabel) labels[name] = some[name] ?? "";
  return labels;
}

/** Undefined where there are none. */
function annotationsOf({ annotations }: Workload): Labels | undefined {
  let found: Record<string, string> | undefined;
  for (const name in annotations) {
    if (!name.startsWith(readAnnotations)) continue;
    found ??= {};
    found[name] = annotations[name] ?? "";
  }
  return found;
}

function sortedFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sorted: Record<string, unknown> = {};
  for (const name of Object.keys(fields).sort()) sorted[name] = fields[name];
  return sorted;
}

function portOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}
