/** What a node has, held against what is in force for it: whether it runs what HEAD says. */
import { rolloutFor } from "../../snapshot/head/cohorts.ts";
import { cohortsOf, type Rollout, rootAt, stagesFrom } from "../../snapshot/head/head.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { Head } from "../../snapshot/root.ts";
import { selectResources } from "../../streams/select-resources.ts";
import type { ExplainedRefusal } from "./explain-refusal.ts";
import { type HeldAgainst, type NodeState, nodeStateOf, type RefusedPart } from "./node-state.ts";
import type { NodeResource, NodeStatus } from "./node-watch.ts";
import { placeIn, placeNamed } from "./place-node.ts";
import { requestingNodeKey } from "./requesting-node.ts";

/** What is served to whom, at a time. */
export interface InForce {
  readonly reader: SnapshotReader;
  readonly head: Head;
  /** What HEAD's clock shows. */
  readonly nowMs: number;
}

/** Who is asked about: as much of a node's status as says what it is served. */
export type ServedNode = Pick<NodeStatus, "node" | "cluster" | "class" | "root">;

/**
 * The root in force for a node: of the canary's steps or of everybody's, by its id. Where labels or a gate lead it elsewhere, its status says so,
 * and counts as long as that root is in force for anybody.
 */
export function rootFor({ head, nowMs }: Pick<InForce, "head" | "nowMs">, { node, root }: ServedNode): string {
  const rollout = rolloutFor(head, { nodeId: node, labels: () => ({}) });
  const byLabels = cohortsOf(head).filter(({ shares }) => shares.some(({ labels }) => Object.keys(labels).length > 0));
  const possible = [rollout, ...byLabels].flatMap((one) => [rootAt(one, nowMs), ...conditionalRootsOf(one, nowMs)]);
  return root !== undefined && possible.includes(root) ? root : rootAt(rollout, nowMs);
}

/** Roots of a way's steps to come that some are served before their time. */
const conditionalRootsOf = ({ steps }: Rollout, nowMs: number): readonly string[] =>
  stagesFrom(steps, nowMs).flatMap(({ root, gate }, i) => (i > 0 && gate !== undefined ? [root] : []));

/** Id of the class that a node is of: the one it was served as, else the one that its id leads to. */
export async function classFor(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  { node, cluster, class: known }: ServedNode,
): Promise<string | undefined> {
  if (known !== undefined && loaded.classes.has(known)) return known;
  const named = cluster === undefined ? placeNamed(reader, loaded, node) : placeIn(reader, loaded, node, cluster);
  const placement = await named;
  return placement.kind === "placed" ? placement.classId : undefined;
}

/** What is known beside the nodes' own statuses. */
export interface KnownOfNodes {
  /** On the clock of the statuses. */
  readonly nowMs: number;
  /** Refusals that stand; absent: none are known. */
  readonly refusals?: readonly ExplainedRefusal[] | undefined;
}

/** Holds nodes against what is in force for them, one after the other: of many that are alike each question is answered once. */
export async function nodeStates(
  inForce: InForce,
  nodes: readonly NodeStatus[],
  { nowMs: hereMs, refusals = [] }: KnownOfNodes,
): Promise<readonly NodeState[]> {
  const { reader, head, nowMs } = inForce;
  const known = new Map<string, string | undefined>();
  const explained = new Map(refusals.map((one) => [`${one.type} ${one.name} ${requestingNodeKey(one)}`, one]));
  const ahead = [head, ...cohortsOf(head)].flatMap((rollout) => conditionalRootsOf(rollout, nowMs));
  const states: NodeState[] = [];
  for (const node of nodes) {
    const shape = shapeOf(node);
    const placed = async (root: string) => {
      const loaded = await reader.root(root);
      return { loaded, classId: await classFor(reader, loaded, node), shape };
    };
    const now = await placed(rootFor(inForce, node));
    const later: Placed[] = [];
    for (const root of ahead) later.push(await placed(root));
    const versionOf: VersionOf = async (of, type, name) => {
      const key = JSON.stringify([of.loaded.hash, of.classId, shape, type, name]);
      if (!known.has(key)) known.set(key, await versionIn(reader, of, type, name));
      return known.get(key);
    };
    const requestingNode = { nodeId: node.node, ...(node.cluster === undefined ? {} : { clusterId: node.cluster }) };
    const resources: HeldAgainst[] = [];
    for (const resource of node.resources) {
      const refusal = explained.get(`${resource.type} ${resource.name ?? ""} ${requestingNodeKey(requestingNode)}`);
      const served = await servedOf(resource, [now, ...later], versionOf);
      resources.push({ resource, served, parts: refusal === undefined ? [] : partsOf(refusal) });
    }
    const has = new Set(node.resources.map(({ type }) => type));
    const notSent: ResourceType[] = [];
    for (const type of resourceTypes) if (!has.has(type) && (await isThere(reader, now, type))) notSent.push(type);
    states.push(nodeStateOf(node, { class: now.classId, resources, notSent }, hereMs));
  }
  return states;
}

const maxParts = 20;
const maxFrom = 10;

const partsOf = ({ suspects = [] }: ExplainedRefusal): readonly RefusedPart[] =>
  suspects
    .slice(0, maxParts)
    .map(({ name, from, at = [] }) => ({ resource: name, from: from.slice(0, maxFrom), at: at.slice(0, maxFrom) }));

/** A node in a root. */
interface Placed {
  readonly loaded: LoadedRoot;
  readonly classId: string | undefined;
  readonly shape: ShapeName;
}

type VersionOf = (of: Placed, type: ResourceType, name: string) => Promise<string | undefined>;

const shapeOf = ({ resources }: NodeStatus): ShapeName =>
  resources.some(({ transport }) => transport !== "poll") ? "stream" : "poll";

/** @param of the node in the root in force for it, and in those that it may have been served before their time */
async function servedOf(
  { type: named, name = "" }: NodeResource,
  of: readonly Placed[],
  versionOf: VersionOf,
): Promise<HeldAgainst["served"]> {
  const type = resourceTypes.find((one) => one === named);
  if (type === undefined) return undefined;
  const served: (string | undefined)[] = [];
  for (const one of of) served.push(await versionOf(one, type, name));
  return served;
}

/** The version of a type, or of one resource of it, as nodes get it; undefined where there is none for it. */
async function versionIn(
  reader: SnapshotReader,
  { loaded, classId, shape }: Placed,
  type: ResourceType,
  name: string,
): Promise<string | undefined> {
  if (classId === undefined) return undefined;
  if (name !== "") {
    const selection = await selectResources(reader, loaded, { classId, shape, type, names: [name] });
    return selection === undefined || selection.parts.length === 0 ? undefined : selection.version;
  }
  return wireVersion((await reader.tree(loaded.root, type, loaded.classes.get(classId)?.[shape][type])).version);
}

async function isThere(
  reader: SnapshotReader,
  { loaded, classId = "", shape }: Placed,
  type: ResourceType,
): Promise<boolean> {
  const index = loaded.classes.get(classId)?.[shape][type];
  return (await reader.tree(loaded.root, type, index)).segments.length > 0;
}
