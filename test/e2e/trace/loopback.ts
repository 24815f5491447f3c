import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";

/**
 * The same resources with every endpoint on a loopback address of its own, inlined into its cluster, so that a machine without the network
 * of the mesh can reach them.
 */
export function onLoopback({ listeners, routes, clusters, endpoints }: NodeResources, port: number): NodeResources {
  const known = new Map<string, string>();
  const addressFor = (text: string): string => {
    const found = known.get(text) ?? `127.77.${Math.floor(known.size / 250)}.${(known.size % 250) + 1}`;
    known.set(text, found);
    return found;
  };
  const moved = (assignment: ClusterLoadAssignmentJson): ClusterLoadAssignmentJson => ({
    ...assignment,
    endpoints: (assignment.endpoints ?? []).map(({ metadata: _, ...locality }) => ({
      ...locality,
      lbEndpoints: (locality.lbEndpoints ?? []).map(
        ({ healthStatus = "UNKNOWN", loadBalancingWeight = 1, endpoint }) => ({
          healthStatus,
          loadBalancingWeight,
          endpoint: {
            address: { socketAddress: { address: addressFor(JSON.stringify(endpoint?.address)), portValue: port } },
          },
        }),
      ),
    })),
  });
  const here = [...clusters.values()].map((cluster) => {
    const { name = "", type, edsClusterConfig, clusterType, loadAssignment, ...rest } = cluster;
    const own = loadAssignment ?? endpoints.get(edsClusterConfig?.serviceName ?? name);
    if (type === "ORIGINAL_DST") return { name, type, ...rest };
    const assignment = own === undefined ? { clusterName: name } : { ...moved(own), clusterName: name };
    return { name, ...rest, type: "STATIC" as const, loadAssignment: assignment };
  });
  return { listeners, routes, clusters: new Map(here.map((one) => [one.name, one])), endpoints: new Map() };
}
