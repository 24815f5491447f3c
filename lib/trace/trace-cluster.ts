import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { type Decision, decided, type End } from "./decision.ts";
import { endpointShares } from "./endpoint-shares.ts";
import type { NodeResources } from "./node-resources.ts";
import type { TracedRequest } from "./traced-request.ts";

/** What becomes of a request that was led to a cluster. */
export interface ClusterWay {
  readonly decisions: readonly Decision[];
  readonly end: End;
}

/** What a missing cluster, or one without endpoints, comes to: an answer to HTTP, a closed connection otherwise. */
export type Unavailable = (status: number, why: string) => End;

export interface ClusterStep {
  readonly name: string;
  /** In words, why this one. */
  readonly why: string;
  /** Of the answer where the node has no such cluster. */
  readonly missingStatus: number;
  readonly unavailable: Unavailable;
}

/** From a cluster's name to its endpoints. */
export function throughCluster(resources: NodeResources, request: TracedRequest, step: ClusterStep): ClusterWay {
  const { name, why, missingStatus, unavailable } = step;
  const cluster = resources.clusters.get(name);
  if (cluster === undefined) {
    const decision = decided({ step: "cluster", chosen: name, why: `${why}, but the node has no such cluster` });
    return { decisions: [decision], end: unavailable(missingStatus, `the node has no cluster ${name}`) };
  }
  const kind = typeOf(cluster);
  const place = { type: "clusters", name } as const;
  const decision = decided({
    step: "cluster",
    chosen: name,
    place,
    why: `${why}; ${kind.toLowerCase().replaceAll("_", " ")}`,
  });
  if (kind === "ORIGINAL_DST") {
    const { address, port } = request.destination;
    const end: End = {
      kind: "original destination",
      cluster: name,
      ...(address === undefined ? {} : { address }),
      port: portOf(cluster, port),
    };
    return { decisions: [decision], end };
  }
  if (cluster.clusterType !== undefined)
    return {
      decisions: [decision],
      end: { kind: "not known", why: `clusters of type ${cluster.clusterType.name ?? ""} are not followed here` },
    };
  const assignment = assignmentOf(resources, cluster, kind);
  const { endpoints, passedOver } = endpointShares(cluster, assignment ?? {});
  const words =
    assignment === undefined
      ? "the node has none for this cluster"
      : endpoints.length === 0
        ? "none can take requests"
        : policyText(cluster, endpoints.length);
  const chosen =
    endpoints.length === 0 ? {} : { chosen: `${endpoints.length} of ${endpoints.length + passedOver.length}` };
  const from =
    kind === "EDS" && assignment !== undefined
      ? { place: { type: "endpoints", name: assignment.clusterName ?? "" } as const }
      : { place };
  const reached = decided({ step: "endpoints", ...chosen, ...from, why: words }, passedOver);
  const end: End =
    endpoints.length === 0
      ? unavailable(503, `cluster ${name} has no endpoint that can take it`)
      : { kind: "endpoints", cluster: name, endpoints };
  return { decisions: [decision, reached], end };
}

const typeOf = ({ type, clusterType }: ClusterJson): string => clusterType?.name ?? String(type ?? "STATIC");

const portOf = ({ originalDstLbConfig }: ClusterJson, port: number): number =>
  originalDstLbConfig?.upstreamPortOverride ?? port;

function assignmentOf(
  { endpoints }: NodeResources,
  cluster: ClusterJson,
  kind: string,
): ClusterLoadAssignmentJson | undefined {
  if (kind !== "EDS") return cluster.loadAssignment;
  const named = cluster.edsClusterConfig?.serviceName ?? "";
  return endpoints.get(named === "" ? (cluster.name ?? "") : named);
}

function policyText({ lbPolicy = "ROUND_ROBIN", lbSubsetConfig }: ClusterJson, count: number): string {
  const by = count === 1 ? "the only one" : String(lbPolicy).toLowerCase().replaceAll("_", " ");
  const subsets = lbSubsetConfig === undefined ? "" : "; subsets by metadata are not followed here";
  return by + subsets;
}
