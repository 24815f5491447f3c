import type { StatedEndpoints, StatedHost } from "../../../config/kinds/stated-endpoints.ts";
import { isIpAddress } from "../../../config/values/ip-address.ts";
import { isNonEmptySubset, type Labels } from "../../../config/values/labels.ts";
import { tlsModeLabel } from "../../labels.ts";
import { type Endpoint, type HealthStatus, streamPort } from "../../service.ts";
import type { ClusterIndex, SlicedService } from "../cluster-index.ts";
import { distinctEndpoints, endpointOfPod, strangerEndpoint } from "../endpoint-slice.ts";
import { objectKey, objectNamespace } from "../object.ts";
import { byObjectName } from "../object-changes.ts";
import type { KubernetesService, KubernetesServicePort } from "../service.ts";
import { type Pod, podPort, type TargetPort } from "./pod.ts";

/** What is known of the endpoints of a service that has no slices. */
export type PodEndpoints = Pick<SlicedService, "endpoints" | "unplaced" | "unusableHosts">;

/**
 * The endpoints of a service that has a selector and no EndpointSlices: the live pods that it selects, as the endpoints
 * controller of Kubernetes would list them, and whatever the folder's settings state of it and of the templates that it selects.
 *
 * @see docs/how-istio-does-it/kubernetes.md#endpoints-and-pods
 */
export function podEndpoints(index: ClusterIndex, service: KubernetesService): PodEndpoints {
  const { selector } = service.service.attributes;
  const namespace = objectNamespace(service.object);
  const selected = (labels: Labels): boolean => isNonEmptySubset(selector, labels);
  const endpoints: Endpoint[] = [];
  const unplaced: string[] = [];
  const unusableHosts: string[] = [];
  const serve = (base: Omit<Endpoint, "port" | "servicePortName">, portOf: PortOf): void => {
    for (const port of service.ports) {
      const number = portOf(port);
      if (number !== undefined) endpoints.push({ ...base, port: number, servicePortName: port.name });
    }
  };
  const place = (stated: StatedEndpoints, name: string, target: PortOf, base: (host: string) => Endpoint): void => {
    for (const { host: written, port } of stated.hosts) {
      const host = written.replaceAll("{name}", name).replaceAll("{namespace}", namespace);
      const portOf = statedPort(service, port, target);
      if (service.ports.every((one) => portOf(one) === undefined)) unusableHosts.push(hostText({ host, port }));
      serve(withLabels(base(host), stated.labels), portOf);
    }
  };

  const pods = [...(index.podsByNamespace.get(namespace)?.values() ?? [])].filter(
    ({ live, workload }) => live && selected(workload.labels),
  );
  for (const pod of pods.sort(byObjectName)) {
    const [address] = pod.workload.addresses;
    if (address === undefined) continue;
    const base = { ...endpointOfPod(pod, address, index.settings), health: healthOf(pod, service) };
    serve(base, ({ target, transport }) => podPort(pod, target, transport));
  }
  for (const { pod, template } of index.templatePods.get(namespace)?.values() ?? []) {
    if (!selected(pod.workload.labels)) continue;
    const name = template.metadata.name;
    const stated = statedFor(index, "workload", namespace, name);
    const target: PortOf = ({ target: wanted, transport }) => podPort(pod, wanted, transport);
    if (stated === undefined) unplaced.push(`${template.kind} ${namespace}/${name}`);
    else place(stated, name, target, (host) => endpointOfPod(pod, host, index.settings));
  }
  const stated = statedFor(index, "service", namespace, service.object.metadata.name);
  if (stated !== undefined) {
    const target: PortOf = ({ target: wanted }) => numericTarget(wanted);
    place(stated, service.object.metadata.name, target, (host) => strangerEndpoint(host, index.settings));
  }
  const isPlaced = stated !== undefined || endpoints.length > 0;
  return { endpoints: distinctEndpoints(endpoints), unplaced: isPlaced ? [] : unplaced, unusableHosts };
}

type PortOf = (port: KubernetesServicePort) => number | undefined;

const numericTarget = (target: TargetPort): number | undefined => (typeof target === "number" ? target : undefined);

/** A stated port is the target of the one port that a service has; of several the one whose target it is. */
function statedPort({ service, ports }: KubernetesService, stated: number | undefined, target: PortOf): PortOf {
  if (stated === undefined) return target;
  const only = ports.filter(({ port }) => streamPort(service, port) !== undefined).length === 1;
  return (port) => (only || target(port) === stated ? stated : undefined);
}

/** The entry that names a workload or service most exactly; of several as exact ones the first. */
function statedFor(
  { context }: ClusterIndex,
  of: StatedEndpoints["of"],
  namespace: string,
  name: string,
): StatedEndpoints | undefined {
  const fitting = context.statedEndpoints.filter(
    (entry) =>
      entry.of === of &&
      (entry.namespace === namespace || entry.namespace === "*") &&
      (entry.name === name || entry.name === "*"),
  );
  const exactness = (entry: StatedEndpoints): number => Number(entry.name !== "*") + Number(entry.namespace !== "*");
  return fitting.toSorted((a, b) => exactness(b) - exactness(a))[0];
}

function withLabels(endpoint: Endpoint, labels: Labels): Endpoint {
  const all = { ...endpoint.labels, ...labels };
  return { ...endpoint, labels: all, tlsMode: all[tlsModeLabel] === "istio" ? "istio" : "disabled" };
}

/** A pod that says nothing of being ready is taken for ready: whoever wrote it by hand wants it served. */
function healthOf({ saysUnready }: Pod, { service }: KubernetesService): HealthStatus {
  return saysUnready && !service.attributes.publishNotReadyAddresses ? "Unhealthy" : "Healthy";
}

const hostText = ({ host, port }: StatedHost): string => (port === undefined ? host : `${host}:${port}`);

/** Whether some endpoint is a name: Envoy then has to resolve it. */
export const hasNames = (endpoints: readonly Endpoint[]): boolean =>
  endpoints.some(({ addresses }) => !addresses.every(isIpAddress));

/** The services of a namespace without slices that select any of some pods, or that a change of them leaves without. */
export function* servicesOfPods(index: ClusterIndex, pods: readonly Pod[]): Generator<string> {
  for (const { workload } of pods) {
    for (const service of index.servicesByNamespace.get(workload.namespace) ?? []) {
      const key = objectKey(service.object);
      if (index.slices.get(key) !== undefined) continue;
      if (isNonEmptySubset(service.service.attributes.selector, workload.labels)) yield key;
    }
  }
}
