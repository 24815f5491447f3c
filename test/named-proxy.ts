import type { Stage } from "../lib/base/diagnostic.ts";
import type { MeshConfig } from "../lib/config/kinds/mesh-config.ts";
import type { Proxy } from "../lib/mesh/proxy/proxy.ts";
import { type EnvoyNode, proxyOf } from "../lib/mesh/proxy/proxy-from-node.ts";
import type { RegistryState } from "../lib/registry/changes/registry-state.ts";

/** A proxy named by hand, the form of the conformance cases' `nodes.json`. */
export interface NamedProxy {
  readonly name: string;
  readonly type: "sidecar" | "router";
  readonly ip: string | readonly string[];
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly serviceAccount?: string;
  readonly clusterId?: string;
  readonly network?: string;
  /** `region/zone/subzone`. */
  readonly locality?: string;
  readonly dnsDomain?: string;
  /** Over everything else. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The node that stands for it in the conformance cases. */
export function nodeOfNamed(named: NamedProxy): EnvoyNode {
  const addresses = typeof named.ip === "string" ? [named.ip] : named.ip;
  const dnsDomain = named.dnsDomain ?? `${named.namespace}.svc.cluster.local`;
  const [region = "", zone = "", subZone = ""] = (named.locality ?? "").split("/");
  return {
    id: `${named.type}~${addresses[0] ?? ""}~${named.name}.${named.namespace}~${dnsDomain}`,
    locality: { region, zone, subZone },
    metadata: {
      ISTIO_VERSION: "1.30.3",
      NAMESPACE: named.namespace,
      CLUSTER_ID: named.clusterId ?? "Kubernetes",
      SERVICE_ACCOUNT: named.serviceAccount ?? "",
      INSTANCE_IPS: addresses.join(","),
      MESH_ID: "cluster.local",
      LABELS: named.labels ?? {},
      INTERCEPTION_MODE: "REDIRECT",
      NAME: named.name,
      ...(named.network === undefined ? {} : { NETWORK: named.network }),
      ...named.metadata,
    },
  };
}

/** @param registry what it knows of the proxy's workload counts */
export function proxyOfNamed(
  named: NamedProxy,
  registry: Pick<RegistryState, "workload">,
  meshConfig: Pick<MeshConfig, "defaultConfig">,
): Stage<Proxy | undefined> {
  return proxyOf(nodeOfNamed(named), registry, meshConfig);
}
