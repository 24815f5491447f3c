import { staleIntervals } from "./node-state.ts";
import type { NodeResource, NodeStatus, ServedAs } from "./node-watch.ts";
import { firstRequest, leastPauseMs, pauseOf, type RequestPauses, recordRequest } from "./request-pauses.ts";
import type { RequestingNode } from "./requesting-node.ts";

/** What the front remembers of one node. */
export interface NodeEntry {
  readonly requestingNode: RequestingNode;
  /** By `resourceKey`. */
  readonly resources: Map<string, NodeResource>;
  /** How each resource is polled, by `resourceKey`. */
  readonly requests: Map<string, RequestPauses>;
  servedAs: ServedAs;
  /** About what it takes in memory. */
  bytes: number;
  seenMs: number;
  /** Open streams; undefined for a node that has had none. */
  streams: number | undefined;
}

/** Further resources of one node are not recorded. */
const maxResources = 100;

/** About what an entry takes in memory, and each of its resources, besides their texts. */
const entryBytes = 400;
const resourceBytes = 300;

export const resourceKey = (type: string, name: string): string => `${type} ${name}`;
export const timeOf = (ms: number): string => new Date(ms).toISOString();

/** @param key `requestingNodeKey` of the node */
export const newEntry = (key: string, { nodeId, clusterId }: RequestingNode, nowMs: number): NodeEntry => ({
  requestingNode: { nodeId, ...(clusterId === undefined ? {} : { clusterId }) },
  resources: new Map(),
  requests: new Map(),
  servedAs: {},
  bytes: entryBytes + 4 * key.length,
  seenMs: nowMs,
  streams: undefined,
});

/** The version that a node reports may be a text of any length. */
const costOf = (key: string, { version, refused }: NodeResource): number =>
  resourceBytes + 4 * key.length + 2 * (version.length + (refused?.error?.length ?? 0));

/** @returns by how many bytes the entry grew; undefined where it takes no further resource */
export function putResource(entry: NodeEntry, key: string, resource: NodeResource): number | undefined {
  const before = entry.resources.get(key);
  if (before === undefined && entry.resources.size >= maxResources) return undefined;
  entry.resources.set(key, resource);
  const grownBytes = costOf(key, resource) - (before === undefined ? 0 : costOf(key, before));
  entry.bytes += grownBytes;
  return grownBytes;
}

/** @returns undefined where the entry takes no further resource */
export function recordRequestFor(entry: NodeEntry, key: string, nowMs: number): RequestPauses | undefined {
  const before = entry.requests.get(key);
  if (before !== undefined) {
    recordRequest(before, nowMs);
    return before;
  }
  if (entry.requests.size >= maxResources) return undefined;
  const pauses = firstRequest(nowMs);
  entry.requests.set(key, pauses);
  return pauses;
}

/** Whether the node polls now. One whose stream has ended may come back by polls. */
export function isByPolls(entry: NodeEntry): boolean {
  if ((entry.streams ?? 0) > 0) return false;
  entry.streams = undefined;
  return true;
}

export const isOpen = ({ streams, requests }: NodeEntry): boolean =>
  (streams ?? 0) > 0 || [...requests.values()].some(({ open }) => open > 0);

/** Whether the requests of a resource go on; a stream does not show when they end. */
function isRequested({ requests, streams }: NodeEntry, key: string, nowMs: number): boolean {
  const of = requests.get(key);
  return of === undefined || (streams ?? 0) > 0 || of.open > 0 || nowMs - of.seenMs < staleIntervals * pauseOf(of);
}

const isPresent = (entry: NodeEntry, nowMs: number): boolean =>
  entry.streams === undefined
    ? [...entry.requests.keys()].some((key) => isRequested(entry, key, nowMs))
    : entry.streams > 0;

/** Whether the node still requests a resource. Beyond the bound of one node its requests are not recorded. */
export function isRequesting(entry: NodeEntry, key: string, nowMs: number): boolean {
  const isRecorded = entry.requests.has(key) || entry.streams !== undefined || entry.requests.size >= maxResources;
  return isRecorded && isPresent(entry, nowMs) && isRequested(entry, key, nowMs);
}

/**
 * Removes resources that a node has stopped polling while it polls others, such as a route table that no listener names.
 *
 * @returns by how many bytes the entry shrank; undefined where nothing was removed
 */
export function dropUnrequested(entry: NodeEntry, nowMs: number): number | undefined {
  if (entry.streams !== undefined || !isPresent(entry, nowMs)) return undefined;
  let freedBytes: number | undefined;
  for (const [key, resource] of entry.resources) {
    if (isRequested(entry, key, nowMs)) continue;
    entry.resources.delete(key);
    entry.requests.delete(key);
    freedBytes = (freedBytes ?? 0) + costOf(key, resource);
  }
  entry.bytes -= freedBytes ?? 0;
  return freedBytes;
}

export function statusOf(entry: NodeEntry, nowMs: number): NodeStatus {
  const { requestingNode, resources, requests, seenMs, streams, servedAs } = entry;
  const { nodeId, clusterId } = requestingNode;
  const { classId, root } = servedAs;
  return {
    node: nodeId,
    ...(clusterId === undefined ? {} : { cluster: clusterId }),
    ...(classId === undefined ? {} : { class: classId }),
    ...(root === undefined ? {} : { root }),
    seen: timeOf(isOpen(entry) ? nowMs : seenMs),
    isOpen: isOpen(entry),
    pauseMs: streams === undefined ? Math.max(...[...requests.values()].map(pauseOf), leastPauseMs) : 0,
    resources: [...resources.values()],
  };
}
