import { parseNodeId } from "../../base/classifier.ts";
import type { NodeState } from "../../front/nodes/node-state.ts";
import { askFront } from "../snapshots/ask-front.ts";
import { nodesRead, readAnswer } from "../snapshots/front-answers.ts";
import { refusedLines } from "./refused-lines.ts";

/**
 * What a node refuses of what a server serves it, one line for each refusal and its suspects.
 *
 * @param node `pod.namespace`, an address or a node id
 * @returns nothing for a class, and where the server keeps no status of nodes
 * @throws PortolanError as `askFront` does
 */
export async function refusedByNode(
  server: string,
  tokenFile: string | undefined,
  node: string,
): Promise<readonly string[]> {
  const answer = await askFront(server, tokenFile)(`/status/nodes?node=${encodeURIComponent(node)}`, "null");
  const report = readAnswer<{ readonly nodes: readonly NodeState[] } | null>(server, answer, nodesRead);
  const isIt = (one: NodeState) => [one.node, one.name, parseNodeId(one.node)?.address].includes(node);
  return (report?.nodes ?? []).filter(isIt).flatMap((one) => refusedLines(one.name, one));
}
