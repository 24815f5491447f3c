import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { Labels } from "../../config/values/labels.ts";
import { type Memo, noMemo } from "../../incremental/memo.ts";
import { expand } from "../../registry/kubernetes/environment.ts";
import { tlsModeLabel } from "../../registry/labels.ts";
import type { Workload, WorkloadOwner } from "../../registry/service.ts";
import { canonicalLabels, canonicalName, canonicalRevision } from "./canonical-service.ts";
import { injectedSettings, type ProxyConfigLayers } from "./proxy-settings.ts";
import { followedIstioVersion, type ProxyStart } from "./proxy-start.ts";
import { isProxyless } from "./proxyless.ts";
import { expandedSettings } from "./settings-json.ts";
import type { AnnotatedSettings } from "./workload-annotations.ts";

/** What injection is told besides the pod. */
export interface InjectionSettings {
  readonly meshConfig: Pick<MeshConfig, "defaultConfig" | "trustDomain">;
  /** Domain suffix of services. */
  readonly domain: string;
  readonly layers: ProxyConfigLayers;
}

/** Longest name that fits into a label's value. */
const maxNameLength = 63;

/**
 * How the agent of a pod is started that nobody has injected yet, as Istio's injector would write it. Installation values
 * are not known: the mesh id is the one of the mesh's settings, or its trust domain; network and cluster are the registry's.
 *
 * @see docs/how-istio-does-it/nodes.md#injection
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/files/injection-template.yaml
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/files/gateway-injection-template.yaml
 */
export function startAsInjected(
  workload: Workload,
  type: ProxyStart["type"],
  annotations: AnnotatedSettings,
  { meshConfig, domain, layers }: InjectionSettings,
  memo: Memo = noMemo,
): ProxyStart {
  const { name, namespace, serviceAccount, nodeName, network, clusterId, pod } = workload;
  const owner: WorkloadOwner = pod?.owner ?? { apiVersion: "v1", kind: "Pod", name };
  const variables = (): ReadonlyMap<string, string> => {
    const named = { POD_NAME: name, POD_NAMESPACE: namespace, SERVICE_ACCOUNT: serviceAccount };
    const beside = { INSTANCE_IP: workload.addresses[0] ?? "", HOST_IP: pod?.hostAddress ?? "" };
    return new Map(Object.entries({ ...named, ...beside }).filter(([, value]) => value !== ""));
  };
  const merged = injectedSettings(meshConfig, layers, annotations.settings);
  const own = expandedSettings(merged, (text) => expand(text, variables()), memo);
  const mode = (type === "sidecar" ? annotations.interceptionMode : undefined) ?? own.interceptionMode ?? "REDIRECT";
  // Only sidecars may be told another name.
  const stated = type === "sidecar" ? workload.labels["service.istio.io/workload-name"] : undefined;
  const environment: Record<string, string> = {
    POD_NAME: name,
    POD_NAMESPACE: namespace,
    SERVICE_ACCOUNT: serviceAccount,
    ISTIO_META_APP_CONTAINERS: (pod?.appContainers ?? []).join(","),
    ISTIO_META_CLUSTER_ID: clusterId,
    ISTIO_META_NODE_NAME: nodeName,
    ISTIO_META_INTERCEPTION_MODE: mode,
    ISTIO_META_WORKLOAD_NAME: stated || owner.name,
    ISTIO_META_OWNER: ownerPath(owner, namespace),
    ISTIO_META_MESH_ID: own.meshId || meshConfig.trustDomain,
  };
  if (network !== "") environment.ISTIO_META_NETWORK = network;
  Object.assign(
    environment,
    own.proxyMetadata,
    isProxyless(workload) ? environmentOfProxyless : undefined,
    pod?.proxyContainer?.environment,
  );
  return {
    type,
    dnsDomain: `${namespace}.svc.${domain}`,
    istioVersion: followedIstioVersion,
    settings: own,
    environment: withoutEmpty(environment),
    labels: injectedLabels(workload, type, owner.name),
  };
}

/** No traffic is captured of a program that finds its own way, nor are its questions to DNS. */
const environmentOfProxyless: Labels = {
  ISTIO_META_GENERATOR: "grpc",
  ISTIO_META_DNS_CAPTURE: "false",
  ISTIO_META_INTERCEPTION_MODE: "",
};

function withoutEmpty(texts: Labels): Labels {
  if (!hasEmpty(texts)) return texts;
  const filled: Record<string, string> = {};
  for (const name in texts) if (texts[name]) filled[name] = texts[name];
  return filled;
}

function hasEmpty(texts: Labels): boolean {
  for (const name in texts) if (!texts[name]) return true;
  return false;
}

/** `kubernetes://apis/apps/v1/namespaces/shop/deployments/web`. */
function ownerPath({ apiVersion, kind, name }: WorkloadOwner, namespace: string): string {
  // Joined, which leaves one text: a template's parts would be kept as seven, of each of ten thousand pods.
  return ["kubernetes://apis", apiVersion, "namespaces", namespace, `${kind.toLowerCase()}s`, name].join("/");
}

function injectedLabels(workload: Workload, type: ProxyStart["type"], ownerName: string): Labels {
  const { labels } = workload;
  const canonical = canonicalLabels(labels, ownerName);
  if (type === "router") return { ...labels, ...canonical };
  const injected: Record<string, string> = { ...labels };
  injected[canonicalName] = shortened(canonical[canonicalName]);
  injected[canonicalRevision] = canonical[canonicalRevision];
  // Only its author knows whether a program takes mutual TLS.
  if (!isProxyless(workload)) injected[tlsModeLabel] = labels[tlsModeLabel] || "istio";
  return injected;
}

function shortened(name: string): string {
  const short = name.slice(0, maxNameLength);
  return short.endsWith("-") ? short.slice(0, -1) : short;
}
