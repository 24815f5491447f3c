import type { BootstrapJson } from "../../gen/envoy/config/bootstrap/v3/bootstrap_pb.ts";
import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ConfigSourceJson } from "../../gen/envoy/config/core/v3/config_source_pb.ts";

/** Name of the cluster of the proxies that are like the own one (`localClusterName` in lib/xds/names.ts, held equal by a test). */
export const localCluster = "local_cluster";

/** File of its endpoints in the folder of an Envoy that reads files. */
export const localClusterFile = "local_cluster.json";

/** Names the cluster by whose endpoints Envoy balances by zone; a bootstrap that names it has to have it. */
export const localClusterManager: NonNullable<BootstrapJson["clusterManager"]> = { localClusterName: localCluster };

/**
 * The cluster itself. Envoy sends nothing to it: it compares how many of its endpoints there are in each zone with those of the
 * cluster that is called. A start waits no longer for it than for any other poll.
 *
 * @param source where its endpoints come from
 */
export const localClusterFrom = (source: ConfigSourceJson): ClusterJson => ({
  name: localCluster,
  type: "EDS",
  connectTimeout: "1s",
  edsClusterConfig: { serviceName: localCluster, edsConfig: { ...source, initialFetchTimeout: "5s" } },
});
