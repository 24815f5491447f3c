import { fieldsOf, listOf, numberOf, stringsOf, textOf } from "../../../base/untyped.ts";
import type { Labels } from "../../../config/values/labels.ts";
import { tlsModeLabel, withTopology } from "../../labels.ts";
import { statedLocality } from "../../locality.ts";
import { type Endpoint, type Locality, spiffeUri, type Workload } from "../../service.ts";
import type { Node } from "../node.ts";
import { type KubernetesObject, objectNamespace } from "../object.ts";
import { appContainersOf, proxyContainerOf } from "../proxy-container.ts";
import { type ClusterSettings, networkOf } from "../settings.ts";
import { ownerOf } from "./pod-owner.ts";

/** A pod as the registry sees it: the part that all endpoints with its address share. */
export interface Pod {
  readonly object: KubernetesObject;
  readonly workload: Workload;
  /** Workload labels with the topology laid over them. */
  readonly endpointLabels: Labels;
  readonly locality: Locality;
  /** SPIFFE identity. */
  readonly identity: string;
  readonly tlsMode: Endpoint["tlsMode"];
  /** Name of what owns the pod; its own where nothing does. */
  readonly workloadName: string;
  /** Host name within its subdomain; both "" for a pod without subdomain. */
  readonly hostName: string;
  readonly subDomain: string;
  /** Has an address and is neither finished nor being deleted. */
  readonly live: boolean;
  /** Says that it is not ready; one that says nothing of it may be. */
  readonly saysUnready: boolean;
  /** Named TCP container ports; of one name the first. */
  readonly namedPorts: ReadonlyMap<string, number>;
}

/** Label that states the name of a workload, whatever owns it. */
const workloadNameLabel = "service.istio.io/workload-name";

const noPorts: ReadonlyMap<string, number> = new Map();

/** A service port's `targetPort`: a number, or the name of a container port. */
export type TargetPort = number | string;

function namedPortsOf(spec: Readonly<Record<string, unknown>>): ReadonlyMap<string, number> {
  let ports: Map<string, number> | undefined;
  for (const container of listOf(spec.containers)) {
    for (const entry of listOf(fieldsOf(container).ports)) {
      const { name, containerPort, protocol } = fieldsOf(entry);
      const number = numberOf(containerPort);
      if (textOf(name) === "" || number === undefined || (textOf(protocol) || "TCP") !== "TCP") continue;
      ports ??= new Map();
      if (!ports.has(textOf(name))) ports.set(textOf(name), number);
    }
  }
  return ports ?? noPorts;
}

/**
 * Port of a pod that a service port's target means; undefined when the pod has no container port of that name and
 * transport. Init containers count only when they keep running beside the others.
 */
export function podPort(pod: Pod, target: TargetPort, transport: string): number | undefined {
  if (typeof target === "number") return target;
  const spec = fieldsOf(pod.object.spec);
  const sidecars = listOf(spec.initContainers).filter((init) => fieldsOf(init).restartPolicy === "Always");
  for (const container of [...listOf(spec.containers), ...sidecars]) {
    for (const entry of listOf(fieldsOf(container).ports)) {
      const { name, containerPort, protocol } = fieldsOf(entry);
      if (name === target && (textOf(protocol) || "TCP") === transport) return numberOf(containerPort);
    }
  }
  return undefined;
}

/** Status of the condition Ready; undefined where there is none. */
function readinessOf(status: Readonly<Record<string, unknown>>): unknown {
  return listOf(status.conditions)
    .map(fieldsOf)
    .find(({ type }) => type === "Ready")?.status;
}

function addressesOf(status: Readonly<Record<string, unknown>>): readonly string[] {
  const first = textOf(status.podIP);
  const addresses = first === "" ? [] : [first];
  for (const entry of listOf(status.podIPs)) {
    const ip = textOf(fieldsOf(entry).ip);
    if (ip !== "" && !addresses.includes(ip)) addresses.push(ip);
  }
  return addresses;
}

/**
 * Reads a Pod; `node` is the one it runs on, undefined when that is not known.
 * @see docs/how-istio-does-it/kubernetes.md#endpoints-and-pods
 */
export function podOf(object: KubernetesObject, node: Node | undefined, settings: ClusterSettings): Pod {
  const spec = fieldsOf(object.spec);
  const status = fieldsOf(object.status);
  const labels = stringsOf(object.metadata.labels);
  const name = object.metadata.name;
  const namespace = objectNamespace(object);
  const addresses = addressesOf(status);
  const nodeName = textOf(spec.nodeName);
  const locality = statedLocality(labels) || (node?.locality ?? "");
  const network = networkOf(addresses[0] ?? "", labels, settings);
  const account = textOf(spec.serviceAccountName);
  const owner = ownerOf(object, labels);
  const subDomain = textOf(spec.subdomain);
  const phase = status.phase;
  const readiness = readinessOf(status);
  return {
    object,
    workload: {
      kind: "Pod",
      name,
      namespace,
      clusterId: settings.clusterId,
      addresses,
      labels,
      annotations: stringsOf(object.metadata.annotations),
      serviceAccount: account,
      locality,
      network,
      nodeName,
      ready: readiness === "True",
      origin: object.origin,
      pod: {
        owner,
        appContainers: appContainersOf(spec),
        hostAddress: textOf(status.hostIP),
        proxyContainer: proxyContainerOf(spec, { pod: object }),
      },
    },
    endpointLabels: withTopology(labels, { clusterId: settings.clusterId, locality, nodeName, network }),
    locality: { label: locality, clusterId: settings.clusterId },
    identity: spiffeUri(settings.trustDomain, namespace, account),
    tlsMode: labels[tlsModeLabel] === "istio" ? "istio" : "disabled",
    workloadName: labels[workloadNameLabel] ?? owner.name,
    hostName: subDomain === "" ? "" : textOf(spec.hostname) || name,
    subDomain,
    live:
      addresses.length > 0 &&
      phase !== "Succeeded" &&
      phase !== "Failed" &&
      object.metadata.deletionTimestamp === undefined,
    saysUnready: readiness !== undefined && readiness !== "True",
    namedPorts: namedPortsOf(spec),
  };
}
