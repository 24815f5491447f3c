import type { Node } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { NodeClaims } from "../../snapshot/classifier.ts";

/** The claims of a node that came as a message. */
export function claimsOf(node: Node | undefined): NodeClaims | undefined {
  if (node === undefined || node.id === "") return undefined;
  const { region = "", zone = "", subZone = "" } = node.locality ?? {};
  return {
    id: node.id,
    cluster: node.cluster,
    metadata: node.metadata ?? {},
    locality: `${region}/${zone}/${subZone}`.replace(/\/+$/, ""),
  };
}
