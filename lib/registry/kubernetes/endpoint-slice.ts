import { fieldsOf, flagOf, listOf, numberOf, stringsOf, textOf } from "../../base/untyped.ts";
import { keepsDraining, withTopology } from "../labels.ts";
import type { Endpoint, HealthStatus, Service } from "../service.ts";
import { type KubernetesObject, objectNamespace } from "./object.ts";
import type { Pod } from "./pods/pod.ts";
import { type ClusterSettings, networkOf } from "./settings.ts";

/** Label that ties a slice to its service. */
const serviceNameLabel = "kubernetes.io/service-name";
const multiClusterLabel = "multicluster.kubernetes.io/service-name";

/** Name of the service a slice belongs to; "" for slices that no registry reads. */
export function sliceServiceName(slice: KubernetesObject): string {
  const labels = stringsOf(slice.metadata.labels);
  if (labels[multiClusterLabel] !== undefined || slice.addressType === "FQDN") return "";
  return labels[serviceNameLabel] ?? "";
}

/** Pods of the cluster, by the two ways an address names one. */
export interface PodLookup {
  byKey(key: string): Pod | undefined;
  /** The pod with the address; of several (host network) the one of the namespace. */
  byAddress(address: string, namespace: string): Pod | undefined;
}

/** One entry of a slice's `endpoints`, read. */
interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly health: HealthStatus;
  /** `namespace/name` of the pod it says it is; undefined where it does not say. */
  readonly podKey: string | undefined;
}

function healthOf(conditions: Readonly<Record<string, unknown>>, service: Service): HealthStatus {
  if (flagOf(conditions.ready) !== false) return "Healthy";
  const terminating = flagOf(conditions.terminating) !== false;
  const serving = flagOf(conditions.serving) !== false;
  if (keepsDraining(service.attributes.labels) && serving && terminating) return "Draining";
  return terminating ? "Terminating" : "Unhealthy";
}

function readEndpoint(entry: unknown, service: Service): SliceEndpoint {
  const { addresses, conditions, targetRef } = fieldsOf(entry);
  const target = fieldsOf(targetRef);
  return {
    addresses: listOf(addresses).map(textOf),
    health: healthOf(fieldsOf(conditions), service),
    podKey: target.kind === "Pod" ? `${textOf(target.namespace)}/${textOf(target.name)}` : undefined,
  };
}

/** Keys and addresses of the pods that a slice depends on: `namespace/name` for named pods, else the address. */
export function slicePodReferences(slice: KubernetesObject): readonly string[] {
  const references: string[] = [];
  for (const entry of listOf(slice.endpoints)) {
    const { addresses, targetRef } = fieldsOf(entry);
    const target = fieldsOf(targetRef);
    if (target.kind === "Pod") references.push(`${textOf(target.namespace)}/${textOf(target.name)}`);
    else for (const address of listOf(addresses)) references.push(textOf(address));
  }
  return references;
}

/** Converts a slice: what came out of it, and the named pods that are not known (their addresses are left out). */
export interface SliceEndpoints {
  readonly endpoints: readonly Endpoint[];
  readonly unknownPods: readonly string[];
}

/**
 * Endpoints of one EndpointSlice of a service: address × port, every health included. An address that names a pod
 * nobody knows is left out until the pod is there; one that names none stays without labels, account and locality.
 * @see docs/how-istio-does-it/kubernetes.md#endpoints-and-pods
 */
export function sliceEndpoints(
  slice: KubernetesObject,
  service: Service,
  pods: PodLookup,
  settings: ClusterSettings,
): SliceEndpoints {
  const ports = listOf(slice.ports).map(fieldsOf);
  const endpoints: Endpoint[] = [];
  const unknownPods: string[] = [];
  const namespace = objectNamespace(slice);
  for (const entry of listOf(slice.endpoints)) {
    const { addresses, health, podKey } = readEndpoint(entry, service);
    for (const address of addresses) {
      const pod = podKey === undefined ? pods.byAddress(address, namespace) : pods.byKey(podKey);
      if (pod === undefined && podKey !== undefined) {
        unknownPods.push(podKey);
        continue;
      }
      const who = pod === undefined ? strangerAt(address, settings) : podBehind(pod);
      const network = pod?.workload.network || networkOf(address, who.labels, settings);
      for (const port of ports) {
        const number = numberOf(port.port);
        if (number === undefined) continue;
        endpoints.push(endpointAt(address, who, network, { health, port: number, name: textOf(port.name) }));
      }
    }
  }
  return { endpoints, unknownPods };
}

/** What the endpoints at an address have in common. */
type Behind = Pick<
  Endpoint,
  | "labels"
  | "locality"
  | "tlsMode"
  | "serviceAccount"
  | "namespace"
  | "workloadName"
  | "hostName"
  | "subDomain"
  | "nodeName"
>;

/** One literal, because a mesh has more endpoints than anything else. */
function endpointAt(
  address: string,
  who: Behind,
  network: string,
  at: { readonly health: HealthStatus; readonly port: number; readonly name: string },
): Endpoint {
  return {
    addresses: [address],
    port: at.port,
    servicePortName: at.name,
    labels: who.labels,
    locality: who.locality,
    network,
    weight: 0,
    health: at.health,
    tlsMode: who.tlsMode,
    serviceAccount: who.serviceAccount,
    namespace: who.namespace,
    workloadName: who.workloadName,
    hostName: who.hostName,
    subDomain: who.subDomain,
    nodeName: who.nodeName,
    hasHealth: true,
    unixPath: "",
    provider: "Kubernetes",
  };
}

function podBehind(pod: Pod): Behind {
  return {
    labels: pod.endpointLabels,
    locality: pod.locality,
    tlsMode: pod.tlsMode,
    serviceAccount: pod.identity,
    namespace: pod.workload.namespace,
    workloadName: pod.workloadName,
    hostName: pod.hostName,
    subDomain: pod.subDomain,
    nodeName: pod.workload.nodeName,
  };
}

/** The endpoint of a pod at one of its addresses, healthy, before a port is chosen. */
export function endpointOfPod(pod: Pod, address: string, settings: ClusterSettings): Endpoint {
  const network = pod.workload.network || networkOf(address, pod.workload.labels, settings);
  return endpointAt(address, podBehind(pod), network, { health: "Healthy", port: 0, name: "" });
}

/** The endpoint at an address or name behind which no pod is known, healthy, before a port is chosen. */
export function strangerEndpoint(host: string, settings: ClusterSettings): Endpoint {
  return endpointAt(host, strangerAt(host, settings), networkOf(host, {}, settings), {
    health: "Healthy",
    port: 0,
    name: "",
  });
}

/** Tells the endpoints of one service in one cluster apart. */
export function endpointKey(endpoint: Endpoint): string {
  return `${endpoint.addresses[0] ?? ""}/${endpoint.servicePortName}`;
}

/** One endpoint per address and port name, the first. */
export function distinctEndpoints(endpoints: Iterable<Endpoint>): readonly Endpoint[] {
  const seen = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    const key = endpointKey(endpoint);
    if (!seen.has(key)) seen.set(key, endpoint);
  }
  return [...seen.values()];
}

/** An address behind which no pod is known. */
function strangerAt(address: string, settings: ClusterSettings): Behind {
  const { clusterId } = settings;
  return {
    labels: withTopology({}, { clusterId, locality: "", nodeName: "", network: networkOf(address, {}, settings) }),
    locality: { label: "", clusterId },
    tlsMode: "disabled",
    serviceAccount: "",
    namespace: "",
    workloadName: "",
    hostName: "",
    subDomain: "",
    nodeName: "",
  };
}
