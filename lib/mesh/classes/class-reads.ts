import type { Config } from "../../config/config.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type { PolicyTarget } from "../../config/kinds/selector.ts";
import type { LabelKeys } from "../../snapshot/classifier.ts";
import { groupBy } from "../group-by.ts";
import { isDynamicWildcard } from "../hosts/dynamic-wildcard.ts";
import { gatewayNameLabel } from "../index/policy-attachment.ts";
import type { Memo } from "../memo/memo.ts";
import type { Mesh } from "../mesh.ts";
import { namesByConvention, serviceNameAnnotation, serviceNameLabels } from "../views/conventional-name.ts";
import { placeReads } from "../views/perspective.ts";
import { sourceLabelKeys } from "../views/source-labels.ts";

/** Which attributes of nodes can tell classes apart in a mesh, in the terms of the classifier. */
export interface ClassReads {
  readonly attributes: readonly string[];
  readonly labels: Readonly<Record<string, LabelKeys>>;
}

/** Read of every node: they select configuration in any mesh. */
const alwaysRead = [
  "type",
  "namespace",
  "dnsDomain",
  "clusterId",
  "families",
  "interceptionMode",
  ...[
    "DNS_CAPTURE",
    "ENVOY_PROMETHEUS_PORT",
    "ENVOY_STATUS_PORT",
    "HTTP10",
    "HTTP_PROXY_PORT",
    "IDLE_TIMEOUT",
    "INBOUND_LISTENER_EXACT_BALANCE",
    "OUTBOUND_LISTENER_EXACT_BALANCE",
    "PROXY_CONFIG",
    "ROUTER_MODE",
    "REQUESTED_NETWORK_VIEW",
    "TLS_CLIENT_CERT_CHAIN",
    "TLS_CLIENT_KEY",
    "TLS_CLIENT_ROOT_CERT",
    "TLS_SERVER_CERT_CHAIN",
    "TLS_SERVER_KEY",
    "TLS_SERVER_ROOT_CERT",
    "UNPRIVILEGED_POD",
  ].map((key) => `metadata:${key}`),
];

const canonicalLabels = ["service.istio.io/canonical-name", "service.istio.io/canonical-revision"];

/** Labels that stand for an attribute of the node, which sends no such labels itself. */
const topologyAttributes: ReadonlyMap<string, string> = new Map([
  ["topology.kubernetes.io/region", "locality"],
  ["topology.kubernetes.io/zone", "locality"],
  ["topology.istio.io/subzone", "locality"],
  ["topology.istio.io/network", "network"],
  ["kubernetes.io/hostname", "nodeName"],
]);

/** What a node says of its account; of a known workload the registry's word counts. */
export const serviceAccountAttribute = "metadata:SERVICE_ACCOUNT";

/** The same object for the same reads. */
export function classReads(mesh: Mesh, memo: Memo): ClassReads {
  const { selecting, services, config } = mesh;
  const writesTracing = mesh.compat === "istio" || canTrace(mesh);
  const namesServices = namesByConvention(config) && canTrace(mesh);
  const patches = selecting.envoyFilters.flatMap(({ spec }) => spec.configPatches ?? []);
  const readsVersion = mesh.compat === "istio" || patches.some(({ match }) => match?.proxy?.proxyVersion !== undefined);
  const metadataKeys = patches.flatMap(({ match }) => Object.keys(match?.proxy?.metadata ?? {}));
  const place = memo([services, selecting.destinationRules, config], "place reads", () =>
    placeReads(
      services.all,
      selecting.destinationRules.map(({ spec }) => spec),
      config,
    ),
  );
  const attributes = new Set([
    ...alwaysRead,
    ...metadataKeys.map((key) => `metadata:${key}`),
    ...(readsVersion ? ["metadata:ISTIO_VERSION"] : []),
    ...(writesTracing ? ["metadata:MESH_ID"] : []),
    ...(namesServices ? ["metadata:WORKLOAD_NAME", `annotation:${serviceNameAnnotation}`] : []),
    ...(namesServices && mesh.compat === "istio" ? ["name"] : []),
    ...(mesh.networks.gateways.length > 0 ? ["network"] : []),
    ...(place.locality ? ["locality"] : []),
    ...(place.nodeName ? ["nodeName"] : []),
    ...(selecting.legacy?.readsServiceAccount === true ? [serviceAccountAttribute] : []),
    ...place.labels.flatMap((key) => topologyAttributes.get(key) ?? []),
  ]);
  const besides = [
    ...place.labels,
    ...(writesTracing ? canonicalLabels : []),
    ...(namesServices ? serviceNameLabels : []),
    ...(hasTargetRefs(mesh) ? [gatewayNameLabel] : []),
  ];
  const labels = labelReads(mesh, besides, memo);
  const reads = { attributes: [...attributes].sort(byCodePoint), labels };
  return memo([config], `class reads|${JSON.stringify(reads)}`, () => reads);
}

/** May the tracing tags of any proxy say who it is? */
function canTrace({ config, selecting, proxies }: Mesh): boolean {
  return (
    (config.defaultProviders.tracing ?? []).length > 0 ||
    selecting.policies.telemetry.some(({ spec }) => spec.tracing !== undefined) ||
    proxies.some(({ metadata }) => metadata.proxyConfig.tracing !== undefined)
  );
}

/** Policies that name a Gateway attach to the workloads of its name. */
function hasTargetRefs({ selecting }: Mesh): boolean {
  const policies: readonly Config<Omit<PolicyTarget, "selector">>[] = [
    ...Object.values(selecting.policies).flat(),
    ...selecting.envoyFilters,
  ];
  return policies.some(({ spec }) => spec.targetRef !== undefined || (spec.targetRefs ?? []).length > 0);
}

/** @param besides keys that are read whatever the objects say */
function labelReads(mesh: Mesh, besides: readonly string[], memo: Memo): Readonly<Record<string, LabelKeys>> {
  const { selecting, config, services } = mesh;
  const everywhere = new Set<string>([...sourceLabelKeys(mesh.virtualServices.all, memo), ...besides]);
  const byNamespace = new Map<string, Set<string>>();
  const read = (namespace: string, keys: Iterable<string>): void => {
    const known = byNamespace.get(namespace) ?? new Set<string>();
    byNamespace.set(namespace, known);
    for (const key of keys) known.add(key);
  };
  const policies: readonly Config<PolicyTarget>[] = Object.values(selecting.policies).flat();
  for (const { meta, spec } of [...policies, ...selecting.peerAuthentications]) {
    const keys = Object.keys(spec.selector?.matchLabels ?? {});
    read(meta.namespace, keys);
    if (meta.namespace === config.rootNamespace) for (const key of keys) everywhere.add(key);
  }
  // In front of hosts that are resolved at run time, the policies of their namespace select callers from anywhere.
  if (services.all.some(isDynamicWildcard)) {
    for (const { spec } of selecting.policies.authorization) {
      for (const key of Object.keys(spec.selector?.matchLabels ?? {})) everywhere.add(key);
    }
  }
  for (const { meta, spec } of [...selecting.envoyFilters, ...selecting.sidecars]) {
    const keys = Object.keys(spec.workloadSelector?.labels ?? {});
    read(meta.namespace, keys);
    if (meta.namespace === config.rootNamespace) for (const key of keys) everywhere.add(key);
  }
  for (const { meta, spec } of selecting.destinationRules) {
    read(meta.namespace, Object.keys(spec.workloadSelector?.matchLabels ?? {}));
  }
  for (const [namespace, keys] of selecting.legacy?.labelReads ?? []) read(namespace, keys);
  for (const [namespace, keys] of memo([services], "selector labels", () => serviceSelectorKeys(mesh)))
    read(namespace, keys);
  const routerNamespaces = new Set(
    mesh.proxies.filter(({ type }) => type === "router").map(({ namespace }) => namespace),
  );
  for (const { spec } of mesh.gateways) {
    for (const namespace of routerNamespaces) read(namespace, Object.keys(spec.selector ?? {}));
  }
  const own = [...byNamespace].map(([namespace, keys]): [string, LabelKeys] => [
    namespace,
    { keys: [...keys].filter((key) => !everywhere.has(key)).sort() },
  ]);
  const entries: [string, LabelKeys][] = [["*", { keys: [...everywhere].sort() }], ...own];
  return Object.fromEntries(entries.filter(([, { keys }]) => keys.length > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Workloads back services by their labels. */
function serviceSelectorKeys(mesh: Mesh): ReadonlyMap<string, ReadonlySet<string>> {
  const grouped = groupBy(mesh.services.all, (service) => service.attributes.namespace);
  return new Map(
    [...grouped].map(([namespace, services]) => [
      namespace,
      new Set(services.flatMap((service) => Object.keys(service.attributes.selector ?? {}))),
    ]),
  );
}
