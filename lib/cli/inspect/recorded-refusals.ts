import { type ExplainedRefusal, explainRefusal } from "../../front/nodes/explain-refusal.ts";
import { classFor, type InForce, rootFor } from "../../front/nodes/in-force.ts";
import type { NodeStatus } from "../../front/nodes/node-watch.ts";
import type { Refusal } from "../../front/nodes/refusals.ts";
import { readHistory } from "../../snapshot/head/history/history.ts";
import { resourceTypes } from "../../snapshot/resource-type.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { refusalLocations } from "./refusal-locations.ts";

/** Publications in which the version that a node keeps is looked for. */
const searchedPublications = 20;

/**
 * What nodes refuse of what is in force for them, from a store alone: with the resources that differ from what each keeps, the objects
 * behind these, and where the objects stand. Of many nodes that refuse the same, it is worked out once.
 */
export async function recordedRefusals(
  store: ObjectStore,
  inForce: InForce,
  nodes: readonly NodeStatus[],
): Promise<readonly ExplainedRefusal[]> {
  const { reader, head } = inForce;
  const refusals: Refusal[] = [];
  for (const node of nodes) refusals.push(...(await refusalsOf(inForce, node)));
  if (refusals.length === 0) return [];
  const recent: string[] = [];
  for await (const { root } of readHistory(reader, head.publication)) {
    recent.unshift(root);
    if (recent.length === searchedPublications) break;
  }
  const known = new Map<string, ExplainedRefusal>();
  const explained: ExplainedRefusal[] = [];
  for (const refusal of refusals) {
    const { classId, type, name, refused, kept, root } = refusal;
    const key = JSON.stringify([classId, type, name, refused, kept, root]);
    const { suspects } = known.get(key) ?? (await explainRefusal(reader, refusal, recent));
    known.set(key, { ...refusal, suspects });
    explained.push({ ...refusal, suspects });
  }
  return refusalLocations(store, reader)(explained);
}

async function refusalsOf(inForce: InForce, node: NodeStatus): Promise<readonly Refusal[]> {
  const refusing = node.resources.filter(({ refused }) => refused !== undefined);
  if (refusing.length === 0) return [];
  const root = rootFor(inForce, node);
  const classId = await classFor(inForce.reader, await inForce.reader.root(root), node);
  if (classId === undefined) return [];
  return refusing.flatMap(({ type: written, name = "", version, refused }): readonly Refusal[] => {
    const type = resourceTypes.find((one) => one === written);
    if (type === undefined || refused === undefined) return [];
    return [
      {
        nodeId: node.node,
        ...(node.cluster === undefined ? {} : { clusterId: node.cluster }),
        type,
        name,
        refused: refused.version,
        kept: version === "" ? undefined : version,
        sinceMs: Date.parse(refused.since),
        classId,
        root,
        ...(refused.error === undefined ? {} : { error: refused.error }),
      },
    ];
  });
}
