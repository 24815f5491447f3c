import type { NodeClaims } from "../../base/classifier.ts";
import { type Caller, clusterOf } from "../auth/caller.ts";

/** A node as a front tells it from others: two clusters may have pods of one name and address. */
export interface Asker {
  readonly nodeId: string;
  /** Id of the cluster that it has proven, else of the one that it says; absent: neither. */
  readonly clusterId?: string;
}

export function askerOf(caller: Caller, claims: NodeClaims): Asker {
  const clusterId = clusterOf(caller, claims);
  return { nodeId: claims.id, ...(clusterId === undefined ? {} : { clusterId }) };
}

/** What tells one asker from another. */
export const askerKey = ({ nodeId, clusterId = "" }: Asker): string => `${nodeId}\n${clusterId}`;
