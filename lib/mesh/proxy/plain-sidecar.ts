import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { nodeOfStart } from "./agent-node.ts";
import { startAsInjected } from "./injected-start.ts";
import { metadataOf } from "./node-metadata.ts";
import type { Proxy } from "./proxy.ts";

const noLayers = { mesh: undefined, namespace: undefined, workload: undefined };
const noAnnotations = { settings: {}, overrides: {}, interceptionMode: undefined };

/**
 * A sidecar in the place of another one whose pod says nothing of itself: no labels, no annotations, no address that a
 * workload has. Nodes without a compiled class are served as this one.
 */
export function plainSidecar(like: Proxy, meshConfig: MeshConfig): Proxy {
  const { namespace, clusterId, network, serviceAccount, dnsDomain, addresses } = like;
  // Documentation ranges: no workload has these addresses.
  const address = addresses[0]?.includes(":") === true ? "2001:db8::1" : "192.0.2.1";
  const workload = {
    kind: "Pod",
    name: "",
    namespace,
    clusterId,
    addresses: [address],
    labels: {},
    annotations: {},
    serviceAccount,
    locality: "",
    network,
    nodeName: "",
    ready: true,
    origin: { key: { group: "", kind: "Pod", name: "", namespace }, file: "", line: 0 },
  } as const;
  const start = startAsInjected(workload, "sidecar", noAnnotations, { meshConfig, domain: "", layers: noLayers });
  const { node, settings } = nodeOfStart({ ...start, dnsDomain, labels: {} }, workload, noAnnotations).value;
  return {
    ...like,
    id: `.${namespace}`,
    addresses: [address],
    labels: {},
    nodeName: "",
    locality: "",
    nodeCluster: node.cluster,
    metadata: metadataOf(node.metadata, settings),
  };
}
