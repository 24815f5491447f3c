import { parseNodeId } from "../../base/classifier.ts";
import type { Stage } from "../../base/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { NamedProxy } from "../../config/kinds/named-proxy.ts";
import type { RegistryState } from "../../registry/changes/registry-state.ts";
import { templatePodAddress } from "../../registry/kubernetes/template-pod.ts";
import type { Proxy } from "./proxy.ts";
import { type EnvoyNode, proxyOf } from "./proxy-from-node.ts";

/**
 * The proxy that a folder's settings name. One whose id is not in Istio's form is found by that id.
 *
 * @returns undefined, and why, for an id in Istio's form that is none of a sidecar or router with an address
 */
export function proxyOfName(
  named: NamedProxy,
  registry: Pick<RegistryState, "workload">,
  meshConfig: Pick<MeshConfig, "defaultConfig">,
): Stage<Proxy | undefined> {
  const { value, diagnostics } = proxyOf(nodeOf(named), registry, meshConfig);
  const says = diagnostics.map((diagnostic) => ({ ...diagnostic, origin: named.origin }));
  if (value === undefined) return { value, diagnostics: says };
  const alias = parseNodeId(named.id) === undefined ? { alias: named.id } : {};
  const how = named.isWanted ? { isWanted: true } : { isNamed: true };
  return { value: { ...value, ...alias, ...how }, diagnostics: says };
}

/** What such a proxy would say of itself in Istio's form. */
function nodeOf({ id, type, namespace, addresses, cluster, locality, labels, metadata }: NamedProxy): EnvoyNode {
  const [region, zone, subZone] = locality.split("/");
  const [address = templatePodAddress] = addresses;
  const isSaid = parseNodeId(id) !== undefined;
  return {
    id: isSaid ? id : `${type}~${address}~${id}.${namespace}~${namespace}.svc.cluster.local`,
    cluster,
    metadata: {
      NAMESPACE: namespace,
      LABELS: labels,
      ...(addresses.length > 1 ? { INSTANCE_IPS: addresses.join(",") } : {}),
      ...metadata,
    },
    locality: {
      ...(region === undefined || region === "" ? {} : { region }),
      ...(zone === undefined ? {} : { zone }),
      ...(subZone === undefined ? {} : { subZone }),
    },
  };
}
