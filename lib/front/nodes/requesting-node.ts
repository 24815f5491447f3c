import type { NodeClaims } from "../../base/classifier.ts";
import { type Caller, clusterOf } from "../auth/caller.ts";

/** The identity of a node that sent a request: two clusters may have pods of one name and address. */
export interface RequestingNode {
  readonly nodeId: string;
  /** Id of its verified cluster, else of the cluster in its metadata; absent: neither. */
  readonly clusterId?: string;
}

export function requestingNodeOf(caller: Caller, claims: NodeClaims): RequestingNode {
  const clusterId = clusterOf(caller, claims);
  return { nodeId: claims.id, ...(clusterId === undefined ? {} : { clusterId }) };
}

/** Unique per node and cluster. */
export const requestingNodeKey = ({ nodeId, clusterId = "" }: RequestingNode): string => `${nodeId}\n${clusterId}`;
