import { isPodName } from "../../base/classifier.ts";
import type { CompiledNode } from "../compiled.ts";

/** A node as people name it. */
export interface NamedNode {
  /** One of its keys; `key@cluster` where another cluster has a node of this key, too. */
  readonly name: string;
  readonly classId: string;
}

const qualified = (key: string, clusterId = ""): string => `${key}@${clusterId}`;

/** Reads such a name: `db-0.shop@east`. @returns undefined for a name without a cluster */
export function readQualified(name: string): { readonly key: string; readonly clusterId: string } | undefined {
  const at = name.lastIndexOf("@");
  return at < 1 ? undefined : { key: name.slice(0, at), clusterId: name.slice(at + 1) };
}

/** Namespace of a node by its name, `pod.namespace` with or without a cluster; "" where it says none. */
export function namespaceOfName(name: string): string {
  const key = readQualified(name)?.key ?? name;
  return isPodName(key) && key.includes(".") ? key.slice(key.lastIndexOf(".") + 1) : "";
}

/** Every key of every node, in their order. A name that two clusters have is told apart by them. */
export function namedNodes(nodes: readonly CompiledNode[]): readonly NamedNode[] {
  const clusters = new Map<string, string | undefined>();
  const shared = new Set<string>();
  for (const { keys, clusterId } of nodes) {
    for (const key of keys) {
      if (clusters.has(key) && clusters.get(key) !== clusterId) shared.add(key);
      clusters.set(key, clusterId);
    }
  }
  return nodes.flatMap(({ keys, classId, clusterId }) =>
    keys.map((key) => ({ name: shared.has(key) ? qualified(key, clusterId) : key, classId })),
  );
}

/** The same of the names of pods alone: neither addresses nor names with an account. */
export const namedPods = (nodes: readonly CompiledNode[]): readonly NamedNode[] =>
  namedNodes(nodes.map((node) => ({ ...node, keys: node.keys.filter(isPodName) })));
