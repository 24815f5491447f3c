import type { AskingNode } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { localityText, type NodeClaims } from "../../base/classifier.ts";
import { buildOfExtensions } from "../../base/proxy-build.ts";
import type { Limits } from "../../limits/limits.ts";
import { excessOfNode } from "../excess.ts";
import type { ReadNode } from "../polls/poll-request.ts";

/** The claims of a node that came as a message. */
export function claimsOf(node: AskingNode | undefined, limits: Limits): ReadNode {
  if (node === undefined || node.id === "") return { problem: "node has no id" };
  const build = buildOfExtensions(node.extensions.map(({ name }) => name));
  const claims: NodeClaims = {
    id: node.id,
    cluster: node.cluster,
    metadata: node.metadata ?? {},
    locality: localityText(node.locality?.region, node.locality?.zone, node.locality?.subZone),
    ...(build === undefined ? {} : { build }),
  };
  // How long the message was is not known here: the claims are measured themselves.
  const problem = excessOfNode(claims, Number.POSITIVE_INFINITY, limits);
  return problem === undefined ? { claims } : { problem };
}
