import { type Memo, noMemo } from "../../incremental/memo.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { endUserClusters } from "../compat/end-user.ts";
import type { CdsDocument, Cluster } from "../documents.ts";
import { type LegacyInstance, type LegacyMesh, usesMixer } from "../legacy-world.ts";
import { effectivePolicy, jwtsOf, type KeyServer, keyServer } from "../listeners/authentication.ts";
import { mixerClusters } from "../listeners/mixer.ts";
import { clustersOf } from "../listeners/outbound-listeners.ts";
import { ingressTables } from "../routes/ingress-routes.ts";
import { runsHere } from "../runs-here.ts";
import { sidecarParts } from "../sidecar.ts";
import { jwksName } from "./cluster-name.ts";
import { withPolicy } from "./cluster-policy.ts";
import { serviceCluster, uniqueClusters } from "./clusters.ts";

/** The clusters of a node, in three lists that follow each other. */
export interface ClusterLists {
  readonly own: readonly Cluster[];
  /** One list for most nodes. */
  readonly shared: readonly Cluster[];
  readonly servers: readonly Cluster[];
}

/**
 * CDS: the clusters that a node's listeners and routes name, sorted; then Mixer's; then those of key servers.
 * @see docs/how-istio-does-it/legacy-v1.md#clusters
 */
export function clustersDocument(
  world: LegacyMesh,
  node: NodeId,
  instances: readonly LegacyInstance[],
  memo: Memo = noMemo,
): CdsDocument {
  const { own, shared, servers } = clusterLists(world, node, instances, memo);
  return { clusters: [...own, ...shared, ...servers].map((cluster) => servedCluster(world, cluster)) };
}

/** The same in lists, before a release's form is given to each. */
export function clusterLists(
  world: LegacyMesh,
  node: NodeId,
  instances: readonly LegacyInstance[],
  memo: Memo,
): ClusterLists {
  const { mesh, v1alpha3 } = world;
  const mixer = usesMixer(mesh)
    ? [
        ...mixerClusters(mesh).map(({ cluster }) => cluster),
        ...endUserClusters(v1alpha3, instances, mesh.connectTimeoutMs),
      ]
    : [];
  const servers = [...mixer, ...keyServerClusters(world, instances)];
  if (node.type === "ingress") return { own: ingressClusters(world, node, instances), shared: [], servers };
  const { clusters, outbound } = sidecarParts(world, node, instances, memo);
  return { own: clusters, shared: outbound.clusters, servers };
}

/** A cluster as the world's release writes it. */
export const servedCluster = ({ v1alpha3 }: LegacyMesh, cluster: Cluster): Cluster =>
  v1alpha3 === undefined ? cluster : withFeatures(cluster);

/** HTTP/2 was a feature among others up to release 0.7. */
function withFeatures({ http2_settings, circuit_breakers, outlier_detection, ...head }: Cluster): Cluster {
  return {
    ...head,
    ...(http2_settings === undefined ? {} : { features: "http2" }),
    ...(circuit_breakers === undefined ? {} : { circuit_breakers }),
    ...(outlier_detection === undefined ? {} : { outlier_detection }),
  };
}

function ingressClusters(world: LegacyMesh, node: NodeId, instances: readonly LegacyInstance[]): readonly Cluster[] {
  const { plain, tls } = ingressTables(world, node);
  const here = runsHere(instances);
  return uniqueClusters(clustersOf([...plain, ...tls])).map((cluster) => withPolicy(cluster, here, world, node.domain));
}

/** One for each address of keys that the policies of the workload's services name. */
function keyServerClusters(world: LegacyMesh, instances: readonly LegacyInstance[]): readonly Cluster[] {
  const uris = instances.flatMap(({ service, servicePort }) =>
    jwtsOf(effectivePolicy(world, service.hostname, servicePort)).map(({ jwksUri = "" }) => jwksUri),
  );
  return [...new Set(uris)].flatMap((uri) => {
    const server = keyServer(uri);
    return server === undefined ? [] : [keyServerCluster(server, world.mesh.connectTimeoutMs)];
  });
}

function keyServerCluster({ host, port, scheme }: KeyServer, connectTimeoutMs: number): Cluster {
  const named = { name: scheme, port, protocol: "TCP", authenticationPolicy: "INHERIT" } as const;
  const { cluster } = serviceCluster(host, named, undefined, true, connectTimeoutMs);
  return {
    ...cluster,
    name: jwksName(host, scheme),
    // The release counts whole seconds here.
    connect_timeout_ms: Math.trunc(connectTimeoutMs / 1000) * 1000,
    ...(scheme === "https" ? { ssl_context: {} } : {}),
    circuit_breakers: { default: { max_pending_requests: 10_000, max_requests: 10_000 } },
  };
}
