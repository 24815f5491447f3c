import type { Limits } from "../../limits/limits.ts";
import { beginningOf } from "../excess.ts";
import { isByPolls, isRequesting, recordRequestFor, resourceKey, statusOf, timeOf } from "./node-entry.ts";
import { createNodeTable } from "./node-table.ts";
import type { NodeResource, NodeStatus, NodeWatch } from "./node-watch.ts";
import type { Refusal } from "./refusals.ts";
import { requestingNodeKey } from "./requesting-node.ts";

/** The versions that the nodes of one front have accepted, in its memory. */
export interface NodeVersions extends Required<Pick<NodeWatch, "has" | "refused" | "streams" | "holds" | "isAsking">> {
  /** Nodes that still send requests, in no order. */
  active(): readonly NodeStatus[];
}

/** Of a node's reason for a refusal, in characters. */
const maxReasonLength = 500;

/**
 * Remembers which version each node last reported. Within its bound in bytes the least recently seen node is removed first, as is one
 * that sends no more requests.
 *
 * @param onChange called with a node's id when something about it has changed, and when it is removed
 */
export function createNodeVersions(
  now: () => number,
  onChange: (nodeId: string) => void,
  limits: Pick<Limits, "statusBytes" | "refusalMs">,
): NodeVersions {
  const table = createNodeTable(now, onChange, limits);
  return {
    has(subscription, version, transport, servedAs = {}) {
      const { nodeId, type, name } = subscription;
      const nodeKey = requestingNodeKey(subscription);
      // Nothing is recorded of a node that has nothing yet.
      if (version === undefined && table.get(nodeKey) === undefined) return;
      const entry = table.getOrAdd(nodeKey, subscription);
      const seenMs = table.touch(nodeKey, entry);
      if (entry.servedAs.classId !== servedAs.classId || entry.servedAs.root !== servedAs.root) {
        entry.servedAs = servedAs;
        onChange(nodeId);
      }
      const key = resourceKey(type, name);
      if (isByPolls(entry)) recordRequestFor(entry, key, seenMs);
      if (version === undefined) return;
      const before = entry.resources.get(key);
      if (before?.version === version && before.transport === transport) return;
      table.put(entry, key, { type, ...nameOf(name), version, since: timeOf(seenMs), transport });
    },
    refused(refusal: Refusal) {
      const { type, name, refused, sinceMs, error, classId } = refusal;
      const entry = table.getOrAdd(requestingNodeKey(refusal), refusal);
      if (entry.servedAs.classId === undefined) entry.servedAs = { ...entry.servedAs, classId };
      const key = resourceKey(type, name);
      if (entry.streams === undefined && !entry.requests.has(key)) recordRequestFor(entry, key, now());
      const [other] = entry.resources.values();
      // A node that has refused the first answer has accepted no version.
      const none = { type, ...nameOf(name), version: "", since: timeOf(sinceMs) };
      const transport = other?.transport ?? (error === undefined ? "poll" : "stream");
      const before: NodeResource = entry.resources.get(key) ?? { ...none, transport };
      const reason = error === undefined ? {} : { error: beginningOf(error, maxReasonLength) };
      table.put(entry, key, { ...before, refused: { version: refused, since: timeOf(sinceMs), ...reason } });
    },
    streams(node) {
      const nodeKey = requestingNodeKey(node);
      const entry = table.getOrAdd(nodeKey, node);
      entry.streams = (entry.streams ?? 0) + 1;
      table.touch(nodeKey, entry);
      table.removeExpired();
      return () => {
        entry.streams = (entry.streams ?? 1) - 1;
        if (table.get(nodeKey) === entry) table.touch(nodeKey, entry);
      };
    },
    holds(subscription) {
      const nodeKey = requestingNodeKey(subscription);
      const entry = table.get(nodeKey);
      if (entry === undefined || !isByPolls(entry)) return () => {};
      const pauses = recordRequestFor(entry, resourceKey(subscription.type, subscription.name), now());
      if (pauses === undefined) return () => {};
      pauses.open += 1;
      return () => {
        pauses.open -= 1;
        if (table.get(nodeKey) !== entry) return;
        pauses.seenMs = table.touch(nodeKey, entry);
      };
    },
    isAsking(subscription) {
      const entry = table.get(requestingNodeKey(subscription));
      return entry === undefined || isRequesting(entry, resourceKey(subscription.type, subscription.name), now());
    },
    active() {
      table.removeExpired();
      table.removeUnrequested();
      // Nothing is reported of a node that has neither accepted nor refused anything yet.
      return [...table.entries()].filter(({ resources }) => resources.size > 0).map((entry) => statusOf(entry, now()));
    },
  };
}

const nameOf = (name: string): { readonly name?: string } => (name === "" ? {} : { name });
