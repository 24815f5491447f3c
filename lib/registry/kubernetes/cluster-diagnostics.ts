import type { Diagnostic } from "../../base/diagnostic.ts";
import { at, type Finding, info, warning } from "../../config/finding.ts";
import type { StatedEndpoints } from "../../config/kinds/stated-endpoints.ts";
import type { ClusterIndex, SlicedService, TemplatePod } from "./cluster-index.ts";

/** Names of a long list that are told. */
const mostNames = 5;

/** What a cluster's objects leave open: pods that nobody knows, and what templates cannot say. What concerns many is said once. */
export function clusterDiagnostics(index: ClusterIndex): readonly Diagnostic[] {
  const incomplete = [...index.incomplete].sort().flatMap((key) => index.sliced.get(key) ?? []);
  return [
    ...incomplete.flatMap((sliced) => (sliced.unknownPods.length === 0 ? [] : [podsUnknown(index, sliced)])),
    ...incomplete.flatMap(({ service, unusableHosts }) =>
      unusableHosts.length === 0 ? [] : [at(service.object.origin, unusable(unusableHosts))],
    ),
    ...endpointsUnknown(incomplete.filter(({ unplaced }) => unplaced.length > 0)),
    ...injectionAssumed(index),
    ...index.context.statedEndpoints.filter((entry) => !isUsed(index, entry)).map(unused),
  ];
}

function podsUnknown(index: ClusterIndex, { service, unknownPods }: SlicedService): Diagnostic {
  const { namespace, name } = service.service.attributes;
  const message = `endpoints of ${namespace}/${name} in cluster ${index.settings.clusterId} are left out: no pod ${unknownPods.join(", ")}`;
  const hint = "the endpoints count as soon as the pods are there";
  return at(service.object.origin, info([], message, hint, "endpoint-pod-unknown"));
}

function unusable(hosts: readonly string[]): Finding {
  const message = `none of its ports leads to a port of ${few(hosts)}`;
  const hint = "state hosts without a port, or the target port of one of its ports";
  return warning([], message, hint, "stated-endpoints-unusable");
}

/** Said at the first of them. */
function endpointsUnknown(services: readonly SlicedService[]): readonly Diagnostic[] {
  const [first] = services;
  if (first === undefined) return [];
  const names = services.map(
    ({ service: { service } }) => `${service.attributes.namespace}/${service.attributes.name}`,
  );
  const many = names.length === 1 ? "the service" : `${names.length} services`;
  const message = `no endpoints known for ${many} ${few(names)}: only workload templates exist`;
  const hint = "add their pods or EndpointSlices, or state hosts under `endpoints` in portolan.yaml (docs/folders.md)";
  return [at(first.service.object.origin, warning([], message, hint, "endpoints-unknown"))];
}

/** Said at the first of them. */
function injectionAssumed(index: ClusterIndex): readonly Diagnostic[] {
  const templatePods = [...index.templatePods]
    .filter(([namespace]) => !index.namespaces.has(namespace))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([namespace, own]) => ({ namespace, one: [...own.values()].find(isAssumed) }));
  const [first, ...others] = templatePods.flatMap(({ namespace, one }) =>
    one === undefined ? [] : [{ namespace, one }],
  );
  if (first === undefined) return [];
  const names = [first, ...others].map(({ namespace }) => namespace);
  const message = `pods are assumed to get a proxy, because there is no object for their ${names.length === 1 ? "namespace" : "namespaces"} ${few(names)}`;
  const hint = "add the Namespace with its label istio-injection: enabled, or disabled";
  return [at(first.one.template.origin, info([], message, hint, "injection-assumed"))];
}

const isAssumed = ({ pod }: TemplatePod): boolean => pod.workload.pod?.injection === "assumed";

function isUsed(index: ClusterIndex, { of, namespace, name }: StatedEndpoints): boolean {
  if (namespace === "*" || name === "*") return true;
  if (of === "service") return index.services.get(`${namespace}/${name}`) !== undefined;
  return [...(index.templatePods.get(namespace)?.values() ?? [])].some(
    ({ template }) => template.metadata.name === name,
  );
}

function unused({ of, namespace, name, origin }: StatedEndpoints): Diagnostic {
  const message =
    of === "service"
      ? `states endpoints of ${namespace}/${name}: there is no such service`
      : `states endpoints of ${namespace}/${name}: there is no such workload, or its pods are known`;
  return at(
    origin,
    warning(["endpoints"], message, "correct the name, or remove the entry", "stated-endpoints-unusable"),
  );
}

function few(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
