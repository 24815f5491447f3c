import { type Classifier, defaultKey, type NodeClaims, parseNodeId, project } from "../snapshot/classifier.ts";
import type { LoadedRoot, SnapshotReader } from "../snapshot/snapshot-reader.ts";

export type Placement =
  | { readonly kind: "placed"; readonly classId: string }
  /** No class is meant for this node; the reason is for its operator. */
  | { readonly kind: "unplaced"; readonly reason: string };

/**
 * Finds the class of a node: by its projection, by name or address in the node index, else the default class of its type and
 * namespace.
 */
export async function placeNode(reader: SnapshotReader, loaded: LoadedRoot, claims: NodeClaims): Promise<Placement> {
  const candidates = [
    byProjection(loaded.classifier, claims),
    await byIndex(reader, loaded, claims),
    byDefault(loaded.classifier, claims),
  ];
  const classId = candidates.find((id) => id !== undefined && loaded.classes.has(id));
  return classId === undefined ? { kind: "unplaced", reason: reasonFor(claims) } : { kind: "placed", classId };
}

function byProjection(classifier: Classifier, claims: NodeClaims): string | undefined {
  const projection = project(classifier, claims);
  return projection === undefined ? undefined : classifier.classes[projection];
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
  return key === undefined ? undefined : classifier.defaults[key];
}

function reasonFor(claims: NodeClaims): string {
  const nodeId = parseNodeId(claims.id);
  if (nodeId === undefined) {
    return `node "${claims.id}" is not known by its name or address, and its id is not of the form type~address~name.namespace~domain`;
  }
  const where = defaultKey(claims);
  return `node "${claims.id}" matches no compiled class, is not in the node index, and ${where} has no default class`;
}
