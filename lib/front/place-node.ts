import { type Classifier, defaultKey, type NodeClaims, own, parseNodeId, project } from "../snapshot/classifier.ts";
import type { LoadedRoot, SnapshotReader } from "../snapshot/snapshot-reader.ts";
import { shown } from "./excess.ts";

export type Placement =
  | { readonly kind: "placed"; readonly classId: string }
  /** No class is meant for this node; the reason is for its operator. */
  | { readonly kind: "unplaced"; readonly reason: string };

/**
 * Finds the class of a node: by its projection, by name or address in the node index, else the default class of its type and
 * namespace.
 */
export async function placeNode(reader: SnapshotReader, loaded: LoadedRoot, claims: NodeClaims): Promise<Placement> {
  const ways = [
    () => byProjection(loaded.classifier, claims),
    () => byIndex(reader, loaded, claims),
    () => byDefault(loaded.classifier, claims),
  ];
  for (const way of ways) {
    const classId = await way();
    if (classId !== undefined && loaded.classes.has(classId)) return { kind: "placed", classId };
  }
  return { kind: "unplaced", reason: reasonFor(claims) };
}

function byProjection(classifier: Classifier, claims: NodeClaims): string | undefined {
  const projection = project(classifier, claims);
  return projection === undefined ? undefined : own(classifier.classes, projection);
}

async function byIndex(reader: SnapshotReader, loaded: LoadedRoot, claims: NodeClaims): Promise<string | undefined> {
  const nodeId = parseNodeId(claims.id);
  const keys = nodeId === undefined ? [claims.id, claims.cluster] : [nodeId.name, nodeId.address];
  for (const key of keys) {
    const classId = key === "" ? undefined : await reader.nodeClass(loaded.root, key);
    if (classId !== undefined) return classId;
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
    return `node "${id}" is not known by its name or address, and its id is not of the form type~address~name.namespace~domain`;
  }
  const where = shown(defaultKey(claims) ?? "");
  return `node "${id}" matches no compiled class, is not in the node index, and ${where} has no default class`;
}
