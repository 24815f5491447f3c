import { listIn } from "../base/untyped.ts";
import { defaultProxyConfig, type ProxyConfig } from "../config/kinds/mesh-config.ts";
import { noMemo } from "../incremental/memo.ts";
import { settingsJson } from "../mesh/proxy/settings-json.ts";
import { interceptionMode, type TemplateInput } from "./context.ts";
import { annotationsOf, containersOf, type EnvironmentVariable, labelsOf, nameOf, proxyName } from "./pod.ts";

/** What Istio leaves out of `PROXY_CONFIG` where it is as in its defaults; the agent has these by itself. */
const leftOut: ReadonlySet<string> = new Set([
  "configPath",
  "binaryPath",
  "controlPlaneAuthPolicy",
  "serviceCluster",
  "drainDuration",
  "terminationDrainDuration",
  "discoveryAddress",
  "envoyMetricsService",
  "envoyAccessLogService",
  "tracing",
  "proxyAdminPort",
  "statNameLength",
  "statusPort",
  "concurrency",
]);

/** @see istio 1.30.3 pkg/kube/inject/template.go, cleanProxyConfig */
function proxyConfigText(settings: ProxyConfig): string {
  const usual: Readonly<Record<string, unknown>> = { ...defaultProxyConfig };
  const entries = Object.entries(settingsJson(noMemo, { settings }));
  const said = entries.filter(
    ([name, value]) => !leftOut.has(name) || JSON.stringify(value) !== JSON.stringify(usual[name]),
  );
  return JSON.stringify(Object.fromEntries(said));
}

const field = (name: string, fieldPath: string): EnvironmentVariable => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});
const limit = (name: string, resource: string): EnvironmentVariable => ({
  name,
  valueFrom: { resourceFieldRef: { resource, divisor: "1" } },
});

/** Variables of the settings, by name. */
export const metadataEnvironment = ({ proxyConfig }: TemplateInput): readonly EnvironmentVariable[] =>
  Object.keys(proxyConfig.proxyMetadata)
    .sort()
    .map((name) => ({ name, value: proxyConfig.proxyMetadata[name] ?? "" }));

/** Names of the containers but for the proxy's. */
export const appContainersOf = ({ pod }: TemplateInput): readonly string[] =>
  containersOf(pod)
    .map(nameOf)
    .filter((name) => name !== proxyName);

/** The variables by which an agent says who it is, which `lib/mesh/proxy` makes a node of. */
export function identityEnvironment(): readonly EnvironmentVariable[] {
  return [
    field("POD_NAME", "metadata.name"),
    field("POD_NAMESPACE", "metadata.namespace"),
    field("INSTANCE_IP", "status.podIP"),
    field("SERVICE_ACCOUNT", "spec.serviceAccountName"),
    field("HOST_IP", "status.hostIP"),
  ];
}

/** @returns what injection knows of the workload, in the order of Istio's templates */
export function workloadEnvironment(input: TemplateInput, type: "sidecar" | "router"): readonly EnvironmentVariable[] {
  const { owner, namespace, network, clusterId, proxyConfig, values, meshConfig, pod } = input;
  const mode = type === "sidecar" ? interceptionMode(input) : (proxyConfig.interceptionMode ?? "REDIRECT");
  const stated = type === "sidecar" ? labelsOf(pod)["service.istio.io/workload-name"] : undefined;
  const workload = stated || owner.name;
  const meshId = values.global.meshID || meshConfig.trustDomain;
  const { trustDomain } = meshConfig;
  const path = `kubernetes://apis/${owner.apiVersion}/namespaces/${namespace}/${owner.kind.toLowerCase()}s/${owner.name}`;
  const some = (name: string, value: string): readonly EnvironmentVariable[] => (value === "" ? [] : [{ name, value }]);
  return [
    { name: "ISTIO_META_CLUSTER_ID", value: clusterId },
    field("ISTIO_META_NODE_NAME", "spec.nodeName"),
    { name: "ISTIO_META_INTERCEPTION_MODE", value: mode },
    ...some("ISTIO_META_NETWORK", network),
    ...some("ISTIO_META_WORKLOAD_NAME", workload),
    ...some("ISTIO_META_OWNER", owner.apiVersion === "" || owner.name === "" ? "" : path),
    ...(annotationsOf(pod)["sidecar.istio.io/bootstrapOverride"] === undefined
      ? []
      : some("ISTIO_BOOTSTRAP_OVERRIDE", "/etc/istio/custom-bootstrap/custom_bootstrap.json")),
    ...some("ISTIO_META_MESH_ID", meshId),
    ...some("TRUST_DOMAIN", trustDomain),
  ];
}

/**
 * The environment of Istio's agent.
 *
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/files/injection-template.yaml
 */
export function agentEnvironment(input: TemplateInput, type: "sidecar" | "router"): readonly EnvironmentVariable[] {
  const { values, revision, meshConfig, proxyConfig, pod } = input;
  const { pilotCertProvider, caAddress, istioNamespace } = values.global;
  const istiod = revision === "default" ? "istiod" : `istiod-${revision}`;
  const ports = containersOf(pod).flatMap((container) => listIn(container, "ports"));
  const containers = { name: "ISTIO_META_APP_CONTAINERS", value: appContainersOf(input).join(",") };
  const memory = limit("GOMEMLIMIT", "limits.memory");
  const isLocal = type === "sidecar" && meshConfig.inboundTrafficPolicy?.mode === "LOCALHOST";
  return [
    ...(isLocal ? [{ name: "REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION", value: "true" }] : []),
    { name: "PILOT_CERT_PROVIDER", value: pilotCertProvider },
    { name: "CA_ADDR", value: caAddress || `${istiod}.${istioNamespace}.svc:15012` },
    ...identityEnvironment(),
    limit("ISTIO_CPU_LIMIT", "limits.cpu"),
    { name: "PROXY_CONFIG", value: `${proxyConfigText(proxyConfig)}\n` },
    { name: "ISTIO_META_POD_PORTS", value: JSON.stringify(ports) },
    ...(type === "sidecar" ? [containers, memory] : [memory, containers]),
    ...workloadEnvironment(input, type),
    ...metadataEnvironment(input),
  ];
}
