import type { Config } from "../../lib/config/config.ts";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import type { ServiceEntry } from "../../lib/config/kinds/service-entry.ts";
import type { WorkloadEntry } from "../../lib/config/kinds/workload-entry.ts";
import type { KubernetesObject } from "../../lib/registry/kubernetes/object.ts";
import { clusterNetworks } from "../../lib/registry/networks.ts";
import type { RegistryInput } from "../../lib/registry/registry-input.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A Kubernetes object for a test: kind, `namespace/name`, and what else it holds. */
export function object(kind: string, key: string, fields: Fields = {}, metadata: Fields = {}): KubernetesObject {
  const [namespace = "", name = ""] = key.split("/");
  const group = kind === "EndpointSlice" ? "discovery.k8s.io" : "";
  return {
    apiVersion: group === "" ? "v1" : `${group}/v1`,
    kind,
    metadata: { name, ...(namespace === "" ? {} : { namespace }), ...metadata },
    origin: { key: { group, kind, name, namespace }, file: "test", line: 0 },
    ...fields,
  };
}

export function service(key: string, spec: Fields = {}, metadata: Fields = {}): KubernetesObject {
  return object(
    "Service",
    key,
    {
      spec: {
        clusterIP: "10.0.0.1",
        selector: { app: key.split("/")[1] },
        ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }],
        ...spec,
      },
    },
    metadata,
  );
}

export function pod(
  key: string,
  ip: string,
  labels: Fields = {},
  spec: Fields = {},
  status: Fields = {},
): KubernetesObject {
  return object(
    "Pod",
    key,
    {
      spec: { serviceAccountName: "default", ...spec },
      status: {
        phase: "Running",
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: "Ready", status: "True" }],
        ...status,
      },
    },
    { labels },
  );
}

/** A slice of a service with one endpoint for each `address` or `address=podName`. */
export function slice(
  serviceKey: string,
  endpoints: readonly string[],
  more: { readonly name?: string; readonly ports?: readonly Fields[]; readonly conditions?: Fields } = {},
): KubernetesObject {
  const [namespace = "", name = ""] = serviceKey.split("/");
  return object(
    "EndpointSlice",
    `${namespace}/${more.name ?? `${name}-1`}`,
    {
      addressType: "IPv4",
      endpoints: endpoints.map((text) => {
        const [address, podName] = text.split("=");
        return {
          addresses: [address],
          conditions: more.conditions ?? { ready: true },
          ...(podName === undefined ? {} : { targetRef: { kind: "Pod", name: podName, namespace } }),
        };
      }),
      ports: more.ports ?? [{ name: "http", port: 8080, protocol: "TCP" }],
    },
    { labels: { "kubernetes.io/service-name": name } },
  );
}

function config<Spec>(kind: string, key: string, spec: Spec, meta: Partial<Config["meta"]> = {}): Config<Spec> {
  const [namespace = "", name = ""] = key.split("/");
  return {
    meta: {
      kind,
      group: "networking.istio.io",
      version: "v1",
      name,
      namespace,
      domain: "cluster.local",
      labels: {},
      annotations: {},
      resourceVersion: "",
      creationTimestampMs: 0,
      ...meta,
    },
    spec,
    origin: { key: { group: "networking.istio.io", kind, name, namespace }, file: "test", line: 0 },
  };
}

export function serviceEntry(
  key: string,
  spec: ServiceEntry,
  meta: Partial<Config["meta"]> = {},
): Config<ServiceEntry> {
  return config("ServiceEntry", key, spec, meta);
}

export function workloadEntry(
  key: string,
  spec: WorkloadEntry,
  meta: Partial<Config["meta"]> = {},
): Config<WorkloadEntry> {
  return config("WorkloadEntry", key, spec, meta);
}

/** A world of one cluster. */
export function world(
  objects: readonly KubernetesObject[],
  configs: readonly Config[] = [],
  more: Partial<RegistryInput> = {},
): RegistryInput {
  return {
    clusters: [{ id: "Kubernetes", objects }],
    configs,
    meshConfig: defaultMeshConfig,
    meshNetworks: noMeshNetworks,
    domain: "cluster.local",
    ...more,
  };
}

/** Settings of a cluster without networks. */
export const settings = {
  clusterId: "Kubernetes",
  domain: "cluster.local",
  trustDomain: "cluster.local",
  networks: clusterNetworks(noMeshNetworks, "Kubernetes"),
  network: "",
};
