import { type Memo, noMemo } from "../incremental/memo.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { effectivePolicy, jwtsOf, type KeyServer, keyServer } from "./authentication.ts";
import { jwksName } from "./cluster-name.ts";
import { withPolicy } from "./cluster-policy.ts";
import { type BuiltCluster, serviceCluster, uniqueClusters } from "./clusters.ts";
import { endUserClusters } from "./compat/end-user.ts";
import type { CdsDocument, Cluster } from "./documents.ts";
import { ingressTables } from "./ingress-routes.ts";
import { type LegacyInstance, type LegacyMesh, usesMixer } from "./legacy-world.ts";
import { mixerClusters } from "./mixer.ts";
import { runsHere } from "./runs-here.ts";
import { clustersOf, sidecarListeners } from "./sidecar.ts";

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
  const built =
    node.type === "ingress" ? ingressClusters(world, node) : sidecarListeners(world, node, instances, memo).clusters;
  const { mesh, v1alpha3 } = world;
  const here = runsHere(instances);
  const mixer = usesMixer(mesh)
    ? [
        ...mixerClusters(mesh).map(({ cluster }) => cluster),
        ...endUserClusters(v1alpha3, instances, mesh.connectTimeoutMs),
      ]
    : [];
  const clusters = [
    ...uniqueClusters(built).map((cluster) => withPolicy(cluster, here, world, node.domain)),
    ...mixer,
    ...keyServerClusters(world, instances),
  ];
  return { clusters: v1alpha3 === undefined ? clusters : clusters.map(withFeatures) };
}

/** HTTP/2 was a feature among others up to release 0.7. */
function withFeatures({ http2_settings, circuit_breakers, outlier_detection, ...head }: Cluster): Cluster {
  return {
    ...head,
    ...(http2_settings === undefined ? {} : { features: "http2" }),
    ...(circuit_breakers === undefined ? {} : { circuit_breakers }),
    ...(outlier_detection === undefined ? {} : { outlier_detection }),
  };
}

function ingressClusters(world: LegacyMesh, node: NodeId): readonly BuiltCluster[] {
  const { plain, tls } = ingressTables(world, node);
  return clustersOf([...plain, ...tls]);
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
