import { parseNodeId } from "../../base/classifier.ts";
import type { UnmatchedNode } from "./unmatched-nodes.ts";

/** What to do about a node that matches no class. */
export function unmatchedRemedy({ nodeId, kind }: UnmatchedNode): string {
  const parsed = parseNodeId(nodeId);
  if (parsed === undefined)
    return "start it with what `portolan bootstrap POD.NAMESPACE` prints, whose node.id is pod and namespace";
  const { name } = parsed;
  if (kind === "default")
    return `if ${name} is a pod of this mesh, publish it with its labels; \`portolan bootstrap\` lists the proxies that have a class`;
  return `publish ${name} as a pod with label security.istio.io/tlsMode: istio, or as a WorkloadEntry with a serviceAccount; \`portolan bootstrap\` lists the proxies that have a class`;
}
