import {
  buildFor,
  type Classifier,
  clusterMember,
  defaultKey,
  type NodeClaims,
  own,
  parseNodeId,
  project,
  textOf,
} from "../../base/classifier.ts";
import { isIstioClass } from "../../base/proxy-build.ts";
import { readQualified } from "../../snapshot/nodes/node-names.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type Caller, clusterOf, completed, indexKeys, misfit } from "../auth/caller.ts";
import { shown } from "../excess.ts";

export type Placement =
  | {
      readonly kind: "placed";
      readonly classId: string;
      /** Type and namespace whose default class it is; absent for a class that is the node's own. */
      readonly byDefault?: string;
    }
  /** No class is meant for this node; the reason is for its operator. */
  | { readonly kind: "unplaced"; readonly reason: string }
  /** Its class is being compiled: it comes again. */
  | { readonly kind: "pending"; readonly reason: string }
  /** The caller may not be this node, or not of its class. */
  | { readonly kind: "forbidden"; readonly reason: string };

/**
 * Finds the class of a node: by its projection, by name or address in the node index, else the default class of its type and
 * namespace. A pod whose name was proven is looked for in the index first: there nothing depends on what it says. A cluster and a
 * service account that were proven are part of both questions, so that neither leads to a class of another's nodes.
 *
 * No stock Envoy gets a class of Istio's own proxies: it would refuse everything. What the index has for a name may be of the other
 * build; one of Istio's gets a stock Envoy's class of its own until there is a better one.
 */
export async function placeNode(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  claims: NodeClaims,
  caller: Caller,
): Promise<Placement> {
  const reason = misfit(caller, claims);
  if (reason !== undefined) return { kind: "forbidden", reason };
  const projected = () => byProjection(loaded.classifier, completed(caller, claims));
  const indexed = () => byIndex(reader, loaded, indexKeys(caller, claims), clusterOf(caller, claims));
  const isProven = caller.kind === "node" && caller.pod !== undefined;
  const build = buildFor(loaded.classifier, claims);
  const ways = isProven ? [indexed, projected] : [projected, indexed];
  if (build === undefined) return placeBy(ways, loaded, claims, caller);
  const takesIstio = build === "istio";
  const own = (way: Way) => async () => {
    const classId = await way();
    return classId !== undefined && isIstioClass(classId) === takesIstio ? classId : undefined;
  };
  // What a pod says of its build leads it no more than anything else to a class that is not the one of its proven name.
  const isKnown = isProven && (await indexed()) !== undefined;
  const placement = isKnown
    ? await placeBy(takesIstio ? [indexed] : [own(indexed)], loaded, claims, caller)
    : await placeBy(ways.map(own), loaded, claims, caller, takesIstio ? indexed : undefined);
  const isOfOthers = placement.kind === "placed" && isIstioClass(placement.classId) && !takesIstio;
  return isOfOthers ? { kind: "unplaced", reason: reasonFor(claims) } : placement;
}

type Way = () => string | undefined | Promise<string | undefined>;

/**
 * By the first of the ways that leads to a class, else by default.
 *
 * @param almost leads to a class that is the node's own but for its build: it is asked for as by default
 */
async function placeBy(
  ways: readonly Way[],
  loaded: LoadedRoot,
  claims: NodeClaims,
  caller: Caller,
  almost?: Way,
): Promise<Placement> {
  const defaultWay = () => byDefault(loaded.classifier, claims);
  for (const way of [...ways, ...(almost === undefined ? [] : [almost]), defaultWay]) {
    const classId = await way();
    if (classId === undefined || !loaded.classes.has(classId)) continue;
    if (caller.kind === "node" && caller.classes?.includes(classId) === false)
      return { kind: "forbidden", reason: `${caller.subject} may not be of class "${classId}"` };
    const type = way === defaultWay || way === almost ? defaultKey(claims) : undefined;
    return { kind: "placed", classId, ...(type === undefined ? {} : { byDefault: type }) };
  }
  return { kind: "unplaced", reason: reasonFor(claims) };
}

/**
 * The same of a node that an operator names: by its id, its name or its address, or by one of them and `@cluster` where several
 * clusters have such a node.
 */
export async function placeNamed(reader: SnapshotReader, loaded: LoadedRoot, name: string): Promise<Placement> {
  const placement = await placeIn(reader, loaded, name, undefined);
  const qualified = readQualified(name);
  const hasOwn = placement.kind === "placed" && placement.byDefault === undefined;
  if (qualified === undefined || hasOwn) return placement;
  const there = await placeIn(reader, loaded, qualified.key, qualified.clusterId);
  return there.kind === "placed" ? there : placement;
}

/** The same where its cluster is known: nothing but the node index, and the default class of its type and namespace, tells of it. */
export function placeIn(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  name: string,
  clusterId: string | undefined,
): Promise<Placement> {
  const caller = { kind: "operator", subject: "" } as const;
  const claims = { id: name, cluster: "", metadata: {}, locality: "" };
  const indexed = () => byIndex(reader, loaded, indexKeys(caller, claims), clusterId);
  return placeBy([indexed], loaded, claims, caller);
}

function byProjection(classifier: Classifier, claims: NodeClaims): string | undefined {
  const projection = project(classifier, claims);
  return projection === undefined ? undefined : own(classifier.classes, projection);
}

async function byIndex(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  keys: readonly string[],
  clusterId: string | undefined,
): Promise<string | undefined> {
  for (const key of keys) {
    const [classId, ...others] = key === "" ? [] : await reader.nodeClasses(loaded.root, key, clusterId);
    // Nodes of several clusters have this name: which of them asks, nothing says.
    if (others.length === 0 && classId !== undefined) return classId;
  }
  return undefined;
}

function byDefault(classifier: Classifier, claims: NodeClaims): string | undefined {
  const key = defaultKey(claims);
  return key === undefined ? undefined : own(classifier.defaults, key);
}

function reasonFor(claims: NodeClaims): string {
  const id = shown(claims.id);
  if (parseNodeId(claims.id) === undefined) {
    return (
      `node "${id}" is not known by its name or address, and its id is not of the form type~address~name.namespace~domain; ` +
      `write {id: ${JSON.stringify(id)}, namespace: …} under proxies: into portolan.yaml of the folder that is compiled`
    );
  }
  const where = shown(defaultKey(claims) ?? "");
  return `node "${id}" matches no compiled class, is not in the node index${clusterText(claims)}, and ${where} has no default class`;
}

/** The index is looked up by cluster: of a name that two clusters have, a node has to say in which one it runs. */
function clusterText({ metadata }: NodeClaims): string {
  const clusterId = textOf(metadata[clusterMember]);
  return clusterId === "" ? " (or is in several clusters, and has no CLUSTER_ID)" : ` of cluster ${shown(clusterId)}`;
}
