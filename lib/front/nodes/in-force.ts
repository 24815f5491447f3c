/** What a node has, held against what is in force for it: whether it runs what HEAD says. */
import { wayOf } from "../../snapshot/head/cohorts.ts";
import { cohortsOf, rootAt, stepsFrom, type Way } from "../../snapshot/head/head.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { Head } from "../../snapshot/root.ts";
import type { LoadedRoot, SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { selectResources } from "../../streams/select-resources.ts";
import type { NodeResource, NodeStatus } from "./node-watch.ts";
import { placeIn, placeNamed } from "./place-node.ts";

/**
 * `synced`: it has what is in force for it. `stale`: it has something else. `refused`: it was served what is in force, and keeps what it
 * has. `taken`: it has it, and what is in force of it no snapshot says, as of secrets.
 */
export type ResourceState = "synced" | "stale" | "refused" | "taken";

export interface StandingResource extends NodeResource {
  readonly state: ResourceState;
}

/** A node, held against HEAD. */
export interface NodeStanding extends NodeStatus {
  readonly resources: readonly StandingResource[];
  /** Types of which there is something for it, and of which it has nothing. */
  readonly notSent: readonly ResourceType[];
}

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
  const way = wayOf(head, { nodeId: node, labels: () => ({}) });
  const byLabels = cohortsOf(head).filter(({ shares }) => shares.some(({ labels }) => Object.keys(labels).length > 0));
  const possible = [way, ...byLabels].flatMap((one) => [rootAt(one, nowMs), ...gatedOf(one, nowMs)]);
  return root !== undefined && possible.includes(root) ? root : rootAt(way, nowMs);
}

/** Roots of a way's steps to come that some are served before their time. */
const gatedOf = ({ steps }: Way, nowMs: number): readonly string[] =>
  stepsFrom(steps, nowMs).flatMap(({ root, gate }, i) => (i > 0 && gate !== undefined ? [root] : []));

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

/** Holds nodes against what is in force for them, one after the other: of many that are alike each question is answered once. */
export async function standingOf(inForce: InForce, nodes: readonly NodeStatus[]): Promise<readonly NodeStanding[]> {
  const { reader, head, nowMs } = inForce;
  const known = new Map<string, string | undefined>();
  const ahead = [head, ...cohortsOf(head)].flatMap((way) => gatedOf(way, nowMs));
  const standing: NodeStanding[] = [];
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
    const resources: StandingResource[] = [];
    for (const resource of node.resources) resources.push(await stood(resource, [now, ...later], versionOf));
    const has = new Set(node.resources.map(({ type }) => type));
    const notSent: ResourceType[] = [];
    for (const type of resourceTypes) if (!has.has(type) && (await isThere(reader, now, type))) notSent.push(type);
    standing.push({ ...node, ...(now.classId === undefined ? {} : { class: now.classId }), resources, notSent });
  }
  return standing;
}

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
async function stood(resource: NodeResource, of: readonly Placed[], versionOf: VersionOf): Promise<StandingResource> {
  const { refused, ...rest } = resource;
  const { name = "", version } = resource;
  const type = resourceTypes.find((one) => one === resource.type);
  if (type === undefined) return { ...resource, state: refused === undefined ? "taken" : "refused" };
  const inForce: (string | undefined)[] = [];
  for (const one of of) inForce.push(await versionOf(one, type, name));
  if (inForce.includes(version)) return { ...rest, state: "synced" };
  return { ...resource, state: refused !== undefined && inForce.includes(refused.version) ? "refused" : "stale" };
}

/** The version of a type, or of one resource of it, as nodes are told it; undefined where there is none for it. */
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
