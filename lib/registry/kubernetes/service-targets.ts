import { fieldsOf, listOf, numberOf, textOf } from "../../base/untyped.ts";
import { isNonEmptySubset } from "../../config/values/labels.ts";
import type { ProxyQuery } from "../proxy-query.ts";
import type { ServicePort } from "../service.ts";
import type { SelectableWorkload } from "../service-entry/workload.ts";
import type { ClusterIndex } from "./cluster-index.ts";
import { sliceServiceName } from "./endpoint-slice.ts";
import { type Pod, podPort } from "./pods/pod.ts";
import { takesWorkload, workloadPort } from "./selected-workloads.ts";
import type { KubernetesService, KubernetesServicePort } from "./service.ts";

/** What of a cluster selects workloads. */
export type TargetIndex = Pick<
  ClusterIndex,
  "settings" | "pods" | "podsByAddress" | "templatePods" | "servicesByNamespace"
>;

/** A port of a Kubernetes service on which a workload serves. */
export interface KubernetesTarget {
  readonly service: KubernetesService;
  readonly servicePort: ServicePort;
  readonly targetPort: number;
}

/**
 * The pod of a proxy: the one its id names (`name.namespace`), which may be one that stands for a template's, else the live one
 * with its first address.
 */
export function podOfProxy(index: TargetIndex, proxy: ProxyQuery): Pod | undefined {
  const parts = proxy.id.split(".");
  const [name, namespace] = parts;
  if (parts.length === 2 && namespace === proxy.namespace) {
    const named = index.pods.get(`${namespace}/${name}`) ?? index.templatePods.get(namespace)?.get(name ?? "")?.pod;
    if (named !== undefined) return named;
  }
  const [address] = proxy.addresses;
  if (address === undefined) return undefined;
  const pods = index.podsByAddress.get(address) ?? [];
  return pods.find((pod) => pod.workload.namespace === proxy.namespace) ?? pods[0];
}

type PortOf = (port: KubernetesServicePort) => number | undefined;

/** @param portOf the workload's port that a service port means; a number means itself on every workload */
const targetsOf = (service: KubernetesService, portOf: PortOf): readonly KubernetesTarget[] =>
  service.ports.every(isNumbered) ? targetsOfAny(service) : targetsOn(service, portOf);

const numberOnly: PortOf = ({ target }) => (typeof target === "number" ? target : undefined);

const isNumbered = (port: KubernetesServicePort): boolean => numberOnly(port) !== undefined;

/** Of a service all of whose ports mean numbers: the same list for each of its workloads, of which there are many. */
function targetsOfAny(service: KubernetesService): readonly KubernetesTarget[] {
  let known = numbered.get(service);
  if (known === undefined) {
    known = targetsOn(service, numberOnly);
    numbered.set(service, known);
  }
  return known;
}

/** A service is not written into. */
const numbered = new WeakMap<KubernetesService, readonly KubernetesTarget[]>();

function targetsOn(service: KubernetesService, portOf: PortOf): readonly KubernetesTarget[] {
  const targets: KubernetesTarget[] = [];
  const taken = new Set<string>();
  for (const [index, port] of service.ports.entries()) {
    const servicePort = service.service.ports[index];
    const targetPort = portOf(port);
    if (servicePort === undefined || targetPort === undefined) continue;
    // One listener per target port and protocol: of several service ports the first one counts.
    const key = `${targetPort} ${port.protocol}`;
    if (taken.has(key)) continue;
    taken.add(key);
    targets.push({ service, servicePort, targetPort });
  }
  return targets;
}

/** Services that select labels. Each is found by one of them: a namespace has many services, and more pods that ask. Labels are not listed, for they may be followed. */
function selecting(
  index: TargetIndex,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): readonly KubernetesService[] {
  const services = index.servicesByNamespace.get(namespace);
  if (services === undefined) return [];
  let known = selectable.get(services);
  if (known === undefined) {
    known = byFirstLabel(services);
    selectable.set(services, known);
  }
  const found: Selectable[] = [];
  for (const [key, byValue] of known) {
    for (const candidate of byValue.get(labels[key]) ?? []) {
      if (isNonEmptySubset(candidate.service.service.attributes.selector, labels)) found.push(candidate);
    }
  }
  if (found.length > 1) found.sort((a, b) => a.place - b.place);
  return found.map(({ service }) => service);
}

/** A service and its place in the list of its namespace. */
interface Selectable {
  readonly service: KubernetesService;
  readonly place: number;
}

/** By the key, then by the value of the first label that they select. */
type Selectables = ReadonlyMap<string, ReadonlyMap<string | undefined, readonly Selectable[]>>;

/** By the services of a namespace, a list that is not written into. */
const selectable = new WeakMap<readonly KubernetesService[], Selectables>();

function byFirstLabel(services: readonly KubernetesService[]): Selectables {
  const found = new Map<string, Map<string, Selectable[]>>();
  for (const [place, service] of services.entries()) {
    const [first] = Object.entries(service.service.attributes.selector ?? {});
    if (first === undefined) continue;
    const [key, value] = first;
    const byValue = found.get(key) ?? new Map<string, Selectable[]>();
    found.set(key, byValue);
    const there = byValue.get(value) ?? [];
    byValue.set(value, there);
    there.push({ service, place });
  }
  return found;
}

/** Services whose slices hold an address of the proxy: what counts for a pod that none of them selects. */
export function sliceTargets(index: ClusterIndex, proxy: ProxyQuery): readonly KubernetesTarget[] {
  const targets: KubernetesTarget[] = [];
  for (const service of index.servicesByNamespace.get(proxy.namespace) ?? []) {
    for (const slice of index.slices.get(`${proxy.namespace}/${service.object.metadata.name}`) ?? []) {
      if (sliceServiceName(slice) === "") continue;
      const held = new Set(listOf(slice.endpoints).flatMap((entry) => listOf(fieldsOf(entry).addresses)));
      if (!proxy.addresses.some((address) => held.has(address))) continue;
      for (const entry of listOf(slice.ports)) {
        const { name, port } = fieldsOf(entry);
        const servicePort = service.service.ports.find((candidate) => candidate.name === textOf(name));
        const targetPort = numberOf(port);
        if (servicePort !== undefined && targetPort !== undefined) targets.push({ service, servicePort, targetPort });
      }
    }
  }
  return targets;
}

/**
 * The services of this cluster that select a proxy's workload: of a WorkloadEntry with its address those that select
 * it; of its pod those that select the pod; of a proxy that nobody knows those that select the labels it brings, as far as
 * their target ports are numbers.
 *
 * @returns undefined for a pod that none selects: it backs the services whose slices hold its address (`sliceTargets`)
 * @param entry the WorkloadEntry with the proxy's first address, where this cluster's services take WorkloadEntries
 * @see docs/how-istio-does-it/kubernetes.md#endpoints-and-pods
 */
export function kubernetesTargets(
  index: TargetIndex,
  proxy: ProxyQuery,
  entry: SelectableWorkload | undefined,
): readonly KubernetesTarget[] | undefined {
  if (entry !== undefined && !entry.dnsOnly) {
    return (index.servicesByNamespace.get(entry.namespace) ?? [])
      .filter((service) => takesWorkload(service, entry))
      .flatMap((service) => targetsOf(service, (port) => workloadPort(port.target, entry)));
  }
  const pod = podOfProxy(index, proxy);
  if (pod !== undefined) {
    const services = selecting(index, pod.workload.namespace, pod.workload.labels);
    const [first] = services;
    if (first === undefined) return undefined;
    const portOf: PortOf = ({ target, transport }) => podPort(pod, target, transport);
    // As a rule one does, and its list is at hand.
    return services.length === 1 ? targetsOf(first, portOf) : services.flatMap((service) => targetsOf(service, portOf));
  }
  return selecting(index, proxy.namespace, proxy.labels).flatMap((service) => targetsOf(service, numberOnly));
}
