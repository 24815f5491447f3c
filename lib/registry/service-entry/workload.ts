import { fieldsOf, listOf } from "../../base/untyped.ts";
import type { Config } from "../../config/config.ts";
import type { WorkloadEntry } from "../../config/kinds/workload-entry.ts";
import { isIpAddress } from "../../config/values/ip-address.ts";
import type { Labels } from "../../config/values/labels.ts";
import { tlsModeLabel, withTopology } from "../labels.ts";
import { statedLocality } from "../locality.ts";
import { type Endpoint, spiffeUri, type Workload } from "../service.ts";

/** What the conversion of ServiceEntries and WorkloadEntries depends on beside them. */
export interface EntrySettings {
  /** Id of the cluster that the configuration is read from. */
  readonly clusterId: string;
  readonly trustDomain: string;
  /** Network of an address nobody states one for, as the Kubernetes registry of that cluster sees it. */
  networkOf(address: string, labels: Labels): string;
}

/** Something a ServiceEntry's selector can choose: a WorkloadEntry or a pod, before a port is chosen. */
export interface SelectableWorkload {
  readonly kind: "Pod" | "WorkloadEntry";
  readonly namespace: string;
  readonly name: string;
  /** The labels that selectors see. */
  readonly labels: Labels;
  /** Port 0, no service port name. */
  readonly endpoint: Endpoint;
  readonly ports: ReadonlyMap<string, number>;
  /** Its address is a host name or a socket, so that only ServiceEntries of a DNS resolution may choose it. */
  readonly dnsOnly: boolean;
  readonly workload: Workload;
}

const unixPrefix = "unix://";

/** Says whether an address is one that only DNS clusters (or none) can reach. */
function isDnsOnly(address: string): boolean {
  return address !== "" && !isIpAddress(address);
}

function tlsModeOf(entry: WorkloadEntry): Endpoint["tlsMode"] {
  const stated = entry.labels?.[tlsModeLabel];
  if (stated !== undefined) return stated === "istio" ? "istio" : "disabled";
  return (entry.serviceAccount ?? "") === "" ? "disabled" : "istio";
}

/** Where an entry's endpoint belongs. */
export interface EntryOwner {
  readonly namespace: string;
  /** Workload name of the endpoint. */
  readonly name: string;
}

/**
 * The endpoint of a WorkloadEntry, or of one of the `endpoints` of a ServiceEntry, before a port is chosen.
 * Health is never known for one. A socket keeps its whole address, and its path stands in `unixPath` as well.
 * @see docs/how-istio-does-it/service-entries.md#endpoint-of-a-workload
 */
export function entryEndpoint(entry: WorkloadEntry, owner: EntryOwner, settings: EntrySettings): Endpoint {
  const address = entry.address ?? "";
  const labels = entry.labels ?? {};
  const locality = entry.locality || statedLocality(labels);
  const account = entry.serviceAccount ?? "";
  return {
    addresses: address === "" ? [] : [address],
    port: 0,
    servicePortName: "",
    labels: withTopology(labels, {
      clusterId: settings.clusterId,
      locality,
      nodeName: "",
      network: entry.network || settings.networkOf(address, labels),
    }),
    locality: { label: locality, clusterId: settings.clusterId },
    network: entry.network ?? "",
    weight: entry.weight ?? 0,
    health: "Healthy",
    tlsMode: tlsModeOf(entry),
    serviceAccount: account === "" ? "" : spiffeUri(settings.trustDomain, owner.namespace, account),
    namespace: owner.namespace,
    workloadName: owner.name,
    hostName: "",
    subDomain: "",
    nodeName: "",
    hasHealth: false,
    unixPath: address.startsWith(unixPrefix) ? address.slice(unixPrefix.length) : "",
    provider: "External",
  };
}

/** Named ports of an entry; a port of 0 says nothing. */
export function entryPorts(entry: WorkloadEntry): ReadonlyMap<string, number> {
  return new Map(Object.entries(entry.ports ?? {}).filter(([, port]) => port > 0));
}

/** Annotation of an entry whose workload reports its health. */
export const healthChecksAnnotation = "proxy.istio.io/health-checks-enabled";

/** A workload that reports its health counts only while it says that it is healthy. */
export function isHealthyEntry(config: Config): boolean {
  if (config.meta.annotations[healthChecksAnnotation] !== "true") return true;
  return listOf(fieldsOf(config.status).conditions).some((entry) => {
    const { type, status } = fieldsOf(entry);
    return type === "Healthy" && status === "True";
  });
}

/** Annotation of an entry that a machine made of a WorkloadGroup when it connected. */
export const groupAnnotation = "istio.io/autoRegistrationGroup";

/** Reads a WorkloadEntry object: metadata labels lie over the labels of the spec. */
export function selectableEntry(config: Config<WorkloadEntry>, settings: EntrySettings): SelectableWorkload {
  const { meta, spec, origin } = config;
  const labels = { ...spec.labels, ...meta.labels };
  const endpoint = entryEndpoint({ ...spec, labels }, meta, settings);
  const name = meta.annotations[groupAnnotation] ?? labels["service.istio.io/workload-name"] ?? meta.name;
  return {
    kind: "WorkloadEntry",
    namespace: meta.namespace,
    name: meta.name,
    labels,
    endpoint: name === meta.name ? endpoint : { ...endpoint, workloadName: name },
    ports: entryPorts(spec),
    dnsOnly: isDnsOnly(spec.address ?? ""),
    workload: {
      kind: "WorkloadEntry",
      name: meta.name,
      namespace: meta.namespace,
      clusterId: settings.clusterId,
      addresses: endpoint.addresses,
      labels,
      annotations: meta.annotations,
      serviceAccount: spec.serviceAccount ?? "",
      locality: endpoint.locality.label,
      network: endpoint.network,
      nodeName: "",
      ready: true,
      origin,
    },
  };
}
