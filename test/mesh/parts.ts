import { type Config, defaultCreationTimeMs } from "../../lib/config/config.ts";
import { defaultMeshConfig, type MeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { Mesh } from "../../lib/mesh/mesh.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
import type { World } from "../../lib/mesh/world.ts";
import type { RegistryState } from "../../lib/registry/changes/registry-state.ts";
import { plainAttributes, plainService } from "../../lib/registry/origin/plain-parts.ts";
import type { Endpoint, Service, ServiceAttributes, ServicePort, ServiceTarget } from "../../lib/registry/service.ts";
import { type NamedProxy, proxyOfNamed } from "../named-proxy.ts";

/** An object `namespace/name` of a kind; the higher the age, the older. */
export function config<Spec>(
  kind: string,
  key: string,
  spec: Spec,
  age = 0,
  annotations: Record<string, string> = {},
): Config<Spec> {
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
      annotations,
      resourceVersion: "",
      creationTimestampMs: defaultCreationTimeMs - age * 1000,
    },
    spec,
    origin: { key: { group: "networking.istio.io", kind, name, namespace }, file: "world.yaml", line: 1 },
  };
}

export const httpPort = (number: number): ServicePort => ({ name: `http-${number}`, port: number, protocol: "HTTP" });

export interface ServiceParts {
  /** `host@namespace`. */
  readonly at: string;
  readonly exportTo?: readonly string[];
  readonly ports?: readonly number[];
  readonly provider?: ServiceAttributes["provider"];
  /** The higher, the older. */
  readonly age?: number;
  readonly attributes?: Partial<ServiceAttributes>;
  readonly resolution?: Service["resolution"];
}

export function service({
  at,
  exportTo,
  ports = [80],
  provider = "Kubernetes",
  age = 0,
  attributes,
  resolution,
}: ServiceParts): Service {
  const [hostname = "", namespace = ""] = at.split("@");
  return {
    ...plainService,
    attributes: {
      ...plainAttributes,
      provider,
      name: hostname,
      namespace,
      exportTo,
      type: "ClusterIP",
      objectName: hostname,
      ...attributes,
    },
    hostname,
    ports: ports.map(httpPort),
    defaultAddress: "10.0.0.1",
    resolution: resolution ?? "ClientSideLB",
    meshExternal: false,
    serviceAccounts: [],
    creationTimestampMs: defaultCreationTimeMs - age * 1000,
    origins: [],
  };
}

export interface WorldParts {
  readonly services?: readonly Service[];
  readonly configs?: readonly Config[];
  readonly meshConfig?: Partial<MeshConfig>;
  readonly proxies?: readonly NamedProxy[];
  readonly compat?: World["compat"];
  /** Absent: 1.30, whose recorded answers most of what is expected here was taken from. */
  readonly release?: World["release"];
  readonly switches?: World["switches"];
  /** By `namespace/host`. */
  readonly endpoints?: ReadonlyMap<string, readonly Endpoint[]>;
  /** By `podName.namespace`. */
  readonly targets?: Readonly<Record<string, readonly ServiceTarget[]>>;
}

export function world(parts: WorldParts): World {
  const targetsOf = (proxy: { readonly id: string }) => parts.targets?.[proxy.id] ?? [];
  const registry: RegistryState = {
    services: parts.services ?? [],
    endpoints: parts.endpoints ?? new Map(),
    workload: () => undefined,
    serviceTargets: targetsOf,
    selectedTargets: { of: targetsOf },
    workloads: [],
    networkGateways: [],
    namespaces: new Map(),
  };
  const meshConfig = parts.meshConfig === undefined ? defaultMeshConfig : { ...defaultMeshConfig, ...parts.meshConfig };
  return {
    meshConfig,
    meshNetworks: noMeshNetworks,
    domain: "cluster.local",
    configs: parts.configs ?? [],
    registry,
    proxies: (parts.proxies ?? []).map((named) => proxy(named, registry, meshConfig)),
    compat: parts.compat ?? "shared",
    release: parts.release ?? "1.30",
    ...(parts.switches === undefined ? {} : { switches: parts.switches }),
  };
}

export function mesh(parts: WorldParts, memo: Memo = createMemo()): Mesh {
  return buildMesh(world(parts), memo).value;
}

function proxy(named: NamedProxy, registry: RegistryState, meshConfig: MeshConfig): Proxy {
  const read = proxyOfNamed(named, registry, meshConfig).value;
  if (read === undefined) throw new Error(`no proxy: ${JSON.stringify(named)}`);
  return read;
}

/** A pod with a sidecar: `name.namespace` and labels. */
export function sidecar(id: string, labels: Record<string, string> = {}, more: Partial<NamedProxy> = {}): NamedProxy {
  const [name = "", namespace = ""] = id.split(".");
  return { name, namespace, type: "sidecar", ip: "10.1.0.1", labels, ...more };
}

export const router = (id: string, labels: Record<string, string> = {}, more: Partial<NamedProxy> = {}): NamedProxy =>
  sidecar(id, labels, { type: "router", ...more });
