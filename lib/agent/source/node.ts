import { localityText, type NodeClaims } from "../../base/classifier.ts";

/** The node of a bootstrap in proto JSON, as a front wants it in requests. */
export interface AgentNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
}

/** The same node as whoever places it reads it. */
export function claimsOfNode({ id, cluster, metadata, locality = {} }: AgentNode): NodeClaims {
  return { id, cluster, metadata, locality: localityText(locality.region, locality.zone, locality.subZone) };
}
