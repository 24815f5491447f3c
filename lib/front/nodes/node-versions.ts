import type { Limits } from "../../limits/limits.ts";
import { beginningOf } from "../excess.ts";
import { staleIntervals } from "./node-state.ts";
import type { NodeResource, NodeStatus, NodeSubscription, NodeTransport, NodeWatch, ServedAs } from "./node-watch.ts";
import type { Refusal } from "./refusals.ts";
import { type RequestingNode, requestingNodeKey } from "./requesting-node.ts";

/** What the nodes of one front have, in its memory. */
export interface NodeVersions extends Required<Pick<NodeWatch, "has" | "refused" | "streams" | "holds" | "isAsking">> {
  /** Nodes that still ask, in no order. */
  active(): readonly NodeStatus[];
}

interface Entry {
  readonly requestingNode: RequestingNode;
  readonly resources: Map<string, NodeResource>;
  /** When each of the resources was asked for. */
  readonly asks: Map<string, Asks>;
  as: ServedAs;
  bytes: number;
  seenMs: number;
  /** Streams that are open; undefined of a node that has had none. */
  streams: number | undefined;
}

/** How a node asks for something. */
interface Asks {
  seenMs: number;
  /** Longest usual pause; undefined after the first request. */
  pauseMs: number | undefined;
  /** Requests that are held. */
  held: number;
}

/** More of one node are not kept. */
const maxResources = 100;

/** About what an entry takes, and each of its resources, besides their texts. */
const entryBytes = 400;
const resourceBytes = 300;

/** Of a node's own words about what it refuses, in characters. */
const maxWords = 500;

/** How long the pause of a node is taken to be that has asked once, and of one that asks all the time. */
const firstPauseMs = 10_000;
const leastPauseMs = 2_000;

/** Notes a request, or the end of one that was held. A single long pause is no habit yet: the node may have been away. */
function note(asks: Asks, nowMs: number): void {
  const gapMs = nowMs - asks.seenMs;
  asks.seenMs = nowMs;
  const { pauseMs, held } = asks;
  if (held > 0) return;
  if (pauseMs === undefined) asks.pauseMs = gapMs;
  else if (gapMs > pauseMs) asks.pauseMs = Math.min(gapMs, 2 * Math.max(pauseMs, leastPauseMs));
  // What follows at once upon an answer says nothing of the usual pause.
  else if (gapMs > pauseMs / 4) asks.pauseMs = Math.max(gapMs, 0.75 * pauseMs);
}

/** Whether what is heard of a node comes without a stream. One whose stream has ended may come back by polls. */
function isByPolls(entry: Entry): boolean {
  if ((entry.streams ?? 0) > 0) return false;
  entry.streams = undefined;
  return true;
}

const isOpen = ({ streams, asks }: Entry): boolean =>
  (streams ?? 0) > 0 || [...asks.values()].some(({ held }) => held > 0);

const pauseOf = ({ pauseMs = firstPauseMs }: Asks): number => Math.max(pauseMs, leastPauseMs);

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
  /** By `requestingNodeKey`, the one that asked longest ago first. */
  const nodes = new Map<string, Entry>();
  let bytes = 0;

  function forget(id: string, entry: Entry): void {
    bytes -= entry.bytes;
    nodes.delete(id);
    onChange(entry.requestingNode.nodeId);
  }

  function forgetTheGone(): void {
    const goneMs = now() - refusalMs;
    for (const [id, entry] of nodes) {
      if (entry.seenMs < goneMs && isOpen(entry)) {
        seen(id, entry);
        continue;
      }
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
    onChange(entry.requestingNode.nodeId);
    forgetTheGone();
  }

  /** @param id the asker's key */
  function entryOf(id: string, { nodeId, clusterId }: RequestingNode): Entry {
    const before = nodes.get(id);
    if (before !== undefined) return before;
    const requestingNode = { nodeId, ...(clusterId === undefined ? {} : { clusterId }) };
    const entry: Entry = {
      requestingNode,
      resources: new Map(),
      asks: new Map(),
      as: {},
      bytes: entryBytes + 4 * id.length,
      seenMs: now(),
      streams: undefined,
    };
    bytes += entry.bytes;
    nodes.set(id, entry);
    return entry;
  }

  function seen(id: string, entry: Entry): number {
    nodes.delete(id);
    nodes.set(id, entry);
    entry.seenMs = now();
    return entry.seenMs;
  }

  function asked(entry: Entry, key: string, nowMs: number): Asks | undefined {
    const before = entry.asks.get(key);
    if (before !== undefined) {
      note(before, nowMs);
      return before;
    }
    if (entry.asks.size >= maxResources) return undefined;
    const asks = { seenMs: nowMs, pauseMs: undefined, held: 0 };
    entry.asks.set(key, asks);
    return asks;
  }

  /** Whether a resource goes on being asked for; on streams nothing says when it is not. */
  function isAsked({ asks, streams }: Entry, key: string, nowMs: number): boolean {
    const of = asks.get(key);
    return of === undefined || (streams ?? 0) > 0 || of.held > 0 || nowMs - of.seenMs < staleIntervals * pauseOf(of);
  }

  const isPresent = (entry: Entry, nowMs: number): boolean =>
    entry.streams === undefined ? [...entry.asks.keys()].some((key) => isAsked(entry, key, nowMs)) : entry.streams > 0;

  /** A node that goes on asking for other things than something has no use of that any more, as of a route table that no listener names. */
  function forgetUnasked(entry: Entry, nowMs: number): void {
    if (entry.streams !== undefined || !isPresent(entry, nowMs)) return;
    for (const [key, resource] of entry.resources) {
      if (isAsked(entry, key, nowMs)) continue;
      entry.resources.delete(key);
      entry.asks.delete(key);
      entry.bytes -= costOf(key, resource);
      bytes -= costOf(key, resource);
      onChange(entry.requestingNode.nodeId);
    }
  }

  function statusOf(entry: Entry): NodeStatus {
    const { requestingNode, resources, asks, seenMs, streams, as } = entry;
    const { nodeId, clusterId } = requestingNode;
    const { classId, root } = as;
    const all = [...asks.values()];
    return {
      node: nodeId,
      ...(clusterId === undefined ? {} : { cluster: clusterId }),
      ...(classId === undefined ? {} : { class: classId }),
      ...(root === undefined ? {} : { root }),
      seen: timeOf(isOpen(entry) ? now() : seenMs),
      isOpen: isOpen(entry),
      pauseMs: streams === undefined ? Math.max(...all.map(pauseOf), leastPauseMs) : 0,
      resources: [...resources.values()],
    };
  }

  return {
    has(who: NodeSubscription, version: string | undefined, transport: NodeTransport, as: ServedAs = {}) {
      const { nodeId, type, name } = who;
      const id = requestingNodeKey(who);
      // Of a node that has nothing yet, nothing is known.
      if (version === undefined && !nodes.has(id)) return;
      const entry = entryOf(id, who);
      const seenMs = seen(id, entry);
      if (entry.as.classId !== as.classId || entry.as.root !== as.root) {
        entry.as = as;
        onChange(nodeId);
      }
      const key = keyOf(type, name);
      if (isByPolls(entry)) asked(entry, key, seenMs);
      if (version === undefined) return;
      const before = entry.resources.get(key);
      if (before?.version === version && before.transport === transport) return;
      const resource = { type, ...(name === "" ? {} : { name }), version, since: timeOf(seenMs), transport };
      keep(entry, key, resource);
    },
    refused(refusal: Refusal) {
      const { type, name, refused, sinceMs, error, classId } = refusal;
      const entry = entryOf(requestingNodeKey(refusal), refusal);
      if (entry.as.classId === undefined) entry.as = { ...entry.as, classId };
      const key = keyOf(type, name);
      if (entry.streams === undefined && !entry.asks.has(key)) asked(entry, key, now());
      const [other] = entry.resources.values();
      // Of a node that has refused the first that it was served nothing else is known.
      const none = { type, ...(name === "" ? {} : { name }), version: "", since: timeOf(sinceMs) };
      const transport = other?.transport ?? (error === undefined ? "poll" : "stream");
      const before = entry.resources.get(key) ?? { ...none, transport };
      const words = error === undefined ? {} : { error: beginningOf(error, maxWords) };
      keep(entry, key, { ...before, refused: { version: refused, since: timeOf(sinceMs), ...words } });
    },
    streams(who) {
      const id = requestingNodeKey(who);
      const entry = entryOf(id, who);
      entry.streams = (entry.streams ?? 0) + 1;
      seen(id, entry);
      forgetTheGone();
      return () => {
        entry.streams = (entry.streams ?? 1) - 1;
        if (nodes.get(id) === entry) seen(id, entry);
      };
    },
    holds(who) {
      const id = requestingNodeKey(who);
      const entry = nodes.get(id);
      if (entry === undefined || !isByPolls(entry)) return () => {};
      const asks = asked(entry, keyOf(who.type, who.name), now());
      if (asks === undefined) return () => {};
      asks.held += 1;
      return () => {
        asks.held -= 1;
        if (nodes.get(id) !== entry) return;
        asks.seenMs = seen(id, entry);
      };
    },
    isAsking(who) {
      const entry = nodes.get(requestingNodeKey(who));
      if (entry === undefined) return true;
      const key = keyOf(who.type, who.name);
      // Beyond the bound of one node nothing is noted of what it asks for.
      const isNoted = entry.asks.has(key) || entry.streams !== undefined || entry.asks.size >= maxResources;
      return isNoted && isPresent(entry, now()) && isAsked(entry, key, now());
    },
    active() {
      forgetTheGone();
      for (const entry of nodes.values()) forgetUnasked(entry, now());
      // Of a node that has taken and refused nothing yet, nothing is known.
      return [...nodes.values()].filter(({ resources }) => resources.size > 0).map(statusOf);
    },
  };
}

/** What a node says that it has may be any text. */
const costOf = (key: string, { version, refused }: NodeResource): number =>
  resourceBytes + 4 * key.length + 2 * (version.length + (refused?.error?.length ?? 0));

const keyOf = (type: string, name: string): string => `${type} ${name}`;
const timeOf = (ms: number): string => new Date(ms).toISOString();
