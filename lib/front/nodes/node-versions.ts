import type { Limits } from "../../limits/limits.ts";
import { beginningOf } from "../excess.ts";
import { type Asker, askerKey } from "./asker.ts";
import type { NodeResource, NodeStatus, NodeSubscription, NodeTransport, NodeWatch, ServedAs } from "./node-watch.ts";
import type { Refusal } from "./refusals.ts";

/** What the nodes of one front have, in its memory. */
export interface NodeVersions extends Pick<NodeWatch, "has" | "refused"> {
  /** Nodes that still ask, in no order. */
  standing(): readonly NodeStatus[];
}

interface Entry {
  readonly asker: Asker;
  readonly resources: Map<string, NodeResource>;
  as: ServedAs;
  bytes: number;
  seenMs: number;
}

/** More of one node are not kept. */
const maxResources = 100;

/** About what an entry takes, and each of its resources, besides their texts. */
const entryBytes = 400;
const resourceBytes = 300;

/** Of a node's own words about what it refuses, in characters. */
const maxWords = 500;

/**
 * Remembers what each node last said it has. Within its bound in bytes whoever asked longest ago is forgotten first, as is who asks no
 * more.
 *
 * @param onChange told of a node's id whenever something else is known of it, and when it is forgotten
 */
export function createNodeVersions(
  now: () => number,
  onChange: (nodeId: string) => void,
  { statusBytes, refusalMs }: Pick<Limits, "statusBytes" | "refusalMs">,
): NodeVersions {
  /** By `askerKey`, the one that asked longest ago first. */
  const nodes = new Map<string, Entry>();
  let bytes = 0;

  function forget(id: string, entry: Entry): void {
    bytes -= entry.bytes;
    nodes.delete(id);
    onChange(entry.asker.nodeId);
  }

  function forgetTheGone(): void {
    const goneMs = now() - refusalMs;
    for (const [id, entry] of nodes) {
      if (entry.seenMs >= goneMs && bytes <= statusBytes) return;
      forget(id, entry);
    }
  }

  function keep(entry: Entry, key: string, resource: NodeResource): void {
    const before = entry.resources.get(key);
    if (before === undefined && entry.resources.size >= maxResources) return;
    entry.resources.set(key, resource);
    const cost = costOf(key, resource) - (before === undefined ? 0 : costOf(key, before));
    entry.bytes += cost;
    bytes += cost;
    onChange(entry.asker.nodeId);
    forgetTheGone();
  }

  /** @param id the asker's key */
  function entryOf(id: string, { nodeId, clusterId }: Asker): Entry {
    const before = nodes.get(id);
    if (before !== undefined) return before;
    const asker = { nodeId, ...(clusterId === undefined ? {} : { clusterId }) };
    const entry = { asker, resources: new Map(), as: {}, bytes: entryBytes + 4 * id.length, seenMs: now() };
    bytes += entry.bytes;
    nodes.set(id, entry);
    return entry;
  }

  return {
    has(who: NodeSubscription, version: string | undefined, transport: NodeTransport, as: ServedAs = {}) {
      if (version === undefined) return;
      const { nodeId, type, name } = who;
      const id = askerKey(who);
      const entry = entryOf(id, who);
      nodes.delete(id);
      nodes.set(id, entry);
      const seenMs = now();
      entry.seenMs = seenMs;
      if (entry.as.classId !== as.classId || entry.as.root !== as.root) {
        entry.as = as;
        onChange(nodeId);
      }
      const key = keyOf(type, name);
      const before = entry.resources.get(key);
      if (before?.version === version && before.transport === transport) return;
      const resource = { type, ...(name === "" ? {} : { name }), version, since: timeOf(seenMs), transport };
      keep(entry, key, resource);
    },
    refused(refusal: Refusal) {
      const { type, name, refused, sinceMs, error, classId } = refusal;
      const entry = entryOf(askerKey(refusal), refusal);
      if (entry.as.classId === undefined) entry.as = { ...entry.as, classId };
      const key = keyOf(type, name);
      const [other] = entry.resources.values();
      // Of a node that has refused the first that it was served nothing else is known.
      const none = { type, ...(name === "" ? {} : { name }), version: "", since: timeOf(sinceMs) };
      const transport = other?.transport ?? (error === undefined ? "poll" : "stream");
      const before = entry.resources.get(key) ?? { ...none, transport };
      const words = error === undefined ? {} : { error: beginningOf(error, maxWords) };
      keep(entry, key, { ...before, refused: { version: refused, since: timeOf(sinceMs), ...words } });
    },
    standing() {
      forgetTheGone();
      return [...nodes.values()].map(
        ({ asker: { nodeId, clusterId }, resources, as: { classId, root } }): NodeStatus => ({
          node: nodeId,
          ...(clusterId === undefined ? {} : { cluster: clusterId }),
          ...(classId === undefined ? {} : { class: classId }),
          ...(root === undefined ? {} : { root }),
          resources: [...resources.values()],
        }),
      );
    },
  };
}

/** What a node says that it has may be any text. */
const costOf = (key: string, { version, refused }: NodeResource): number =>
  resourceBytes + 4 * key.length + 2 * (version.length + (refused?.error?.length ?? 0));

const keyOf = (type: string, name: string): string => `${type} ${name}`;
const timeOf = (ms: number): string => new Date(ms).toISOString();
