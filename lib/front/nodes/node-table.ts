import type { Limits } from "../../limits/limits.ts";
import { dropUnrequested, isOpen, type NodeEntry, newEntry, putResource } from "./node-entry.ts";
import type { NodeResource } from "./node-watch.ts";
import type { RequestingNode } from "./requesting-node.ts";

/** Nodes by `requestingNodeKey`, the least recently seen first, within a bound in bytes and in silence. */
export interface NodeTable {
  get(key: string): NodeEntry | undefined;
  getOrAdd(key: string, node: RequestingNode): NodeEntry;
  /** Makes it the most recently seen. @returns when that is */
  touch(key: string, entry: NodeEntry): number;
  put(entry: NodeEntry, resourceKey: string, resource: NodeResource): void;
  /** Removes nodes beyond the bound, and those silent for too long. */
  removeExpired(): void;
  removeUnrequested(): void;
  entries(): Iterable<NodeEntry>;
}

/** @param onChange called with a node's id when something about it has changed, and when it is removed */
export function createNodeTable(
  now: () => number,
  onChange: (nodeId: string) => void,
  { statusBytes, refusalMs }: Pick<Limits, "statusBytes" | "refusalMs">,
): NodeTable {
  const nodes = new Map<string, NodeEntry>();
  let bytes = 0;

  function remove(key: string, entry: NodeEntry): void {
    bytes -= entry.bytes;
    nodes.delete(key);
    onChange(entry.requestingNode.nodeId);
  }

  function touch(key: string, entry: NodeEntry): number {
    nodes.delete(key);
    nodes.set(key, entry);
    entry.seenMs = now();
    return entry.seenMs;
  }

  function removeExpired(): void {
    const expiredMs = now() - refusalMs;
    for (const [key, entry] of nodes) {
      if (entry.seenMs < expiredMs && isOpen(entry)) {
        touch(key, entry);
        continue;
      }
      if (entry.seenMs >= expiredMs && bytes <= statusBytes) return;
      remove(key, entry);
    }
  }

  return {
    get: (key) => nodes.get(key),
    getOrAdd(key, node) {
      const before = nodes.get(key);
      if (before !== undefined) return before;
      const entry = newEntry(key, node, now());
      bytes += entry.bytes;
      nodes.set(key, entry);
      return entry;
    },
    touch,
    put(entry, resourceKey, resource) {
      const grownBytes = putResource(entry, resourceKey, resource);
      if (grownBytes === undefined) return;
      bytes += grownBytes;
      onChange(entry.requestingNode.nodeId);
      removeExpired();
    },
    removeExpired,
    removeUnrequested() {
      for (const entry of nodes.values()) {
        const freedBytes = dropUnrequested(entry, now());
        if (freedBytes === undefined) continue;
        bytes -= freedBytes;
        onChange(entry.requestingNode.nodeId);
      }
    },
    entries: () => nodes.values(),
  };
}
