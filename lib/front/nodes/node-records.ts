/** What nodes have, as fronts tell each other: small records in the store, written when something changes. */

import { hashOf } from "../../base/blob.ts";
import { isRecord } from "../../base/classifier.ts";
import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import type { Limits } from "../../limits/limits.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";
import { presenceOf } from "./node-state.ts";
import { createNodeVersions } from "./node-versions.ts";
import type { NodeQuestion, NodeReport, NodeResource, NodeStatus, NodeWatch } from "./node-watch.ts";
import { requestingNodeKey } from "./requesting-node.ts";

/** Before the keys of all records: `status/<front>/<part>`. */
const recordPrefix = "status/";

/** How long a record counts. A front that lives writes its own again in half of it. */
const recordMs = 24 * 3_600_000;

/** Beside its records, and how often a front writes there that it lives: a record is written when something changes, and says nothing of that. */
const aliveName = "alive";
const aliveMs = 60_000;

/** A front that has not written for so long has ended: its nodes ask another one, or none. */
const endedMs = 3 * aliveMs;

/** Nodes of a front are spread over so many records, by their ids. */
const parts = 16;

/** Records of other fronts that are read for one report, and bytes of them: it holds all of them at a time. */
const maxRecords = 1_000;
const maxRecordBytes = 64 * 1024 * 1024;

/** How long reading them may take; a report is given without those that are not there by then. */
const recordsMs = 5_000;

interface NodeRecord {
  readonly at: string;
  readonly nodes: readonly NodeStatus[];
}

/** Nodes of a front that lives long. */
export interface RecordedNodes extends NodeWatch {
  report(question: NodeQuestion): Promise<NodeReport>;
  /** What is known in this process alone. */
  active(): readonly NodeStatus[];
  /** Writes what changed since the last time. */
  write(): Promise<void>;
  /** Ends writing, with a last one. */
  close(): Promise<void>;
}

export interface RecordedNodesOptions {
  /** Tells this front from others; one that is started again in its place has the same. Absent: it neither writes nor reads records. */
  readonly front: string | undefined;
  readonly now: () => number;
  /** How often what changed is written. */
  readonly everyMs: number;
  readonly limits: Limits;
  /** What nodes of processes have that serve as one front with this one; absent: it is alone. */
  readonly siblings?: (() => Promise<readonly NodeStatus[]>) | undefined;
  /** Told of a store that takes no records: they are kept in memory then. */
  readonly onError: (cause: unknown) => void;
  /** Fires when a report waits no longer for the records of others; absent: after five seconds. */
  readonly patience?: () => AbortSignal;
}

export function recordedNodes(store: ObjectStore, options: RecordedNodesOptions): RecordedNodes {
  const { now, onError, patience = () => AbortSignal.timeout(recordsMs) } = options;
  const changed = new Set<number>();
  /** When each part was last written. */
  const writtenMs = new Map<number, number>();
  /** Who was heard when its record was last written, by key. */
  let heard: ReadonlySet<string> = new Set();
  let aliveAtMs = Number.NEGATIVE_INFINITY;
  const versions = createNodeVersions(now, (nodeId) => changed.add(partOf(nodeId)), options.limits);
  const isShared = options.front !== undefined;
  const prefix = `${recordPrefix}${encodeKeyPart(options.front ?? "")}/`;
  let writing: Promise<void> = Promise.resolve();

  async function writeChanged(): Promise<void> {
    for (const [part, atMs] of writtenMs) if (now() - atMs > recordMs / 2) changed.add(part);
    const active = versions.active();
    const isHeard = (one: NodeStatus) => presenceOf(one, now()) === "connected";
    const heardNow = new Set(active.filter(isHeard).map(keyOf));
    for (const one of active) if (heardNow.has(keyOf(one)) !== heard.has(keyOf(one))) changed.add(partOf(one.node));
    heard = heardNow;
    const due = [...changed];
    changed.clear();
    for (const part of due) {
      // Of a node that is heard a record says so until another one does not.
      const nodes = sorted(active.filter(({ node }) => partOf(node) === part)).map((one) => ({
        ...one,
        isOpen: heardNow.has(keyOf(one)),
      }));
      const record: NodeRecord = { at: timeOf(now()), nodes };
      const key = `${prefix}${part}`;
      try {
        if (nodes.length === 0) await store.delete(key);
        else await store.put(key, new TextEncoder().encode(JSON.stringify(record)));
        if (nodes.length === 0) writtenMs.delete(part);
        else writtenMs.set(part, now());
      } catch (cause) {
        changed.add(part);
        throw cause;
      }
    }
    if (writtenMs.size === 0 || now() - aliveAtMs < aliveMs) return;
    await store.put(`${prefix}${aliveName}`, new TextEncoder().encode(JSON.stringify({ at: timeOf(now()) })));
    aliveAtMs = now();
  }

  function write(): Promise<void> {
    if (isShared) writing = writing.then(writeChanged).catch(onError);
    return writing;
  }

  const timer = isShared ? setInterval(write, options.everyMs) : undefined;
  timer?.unref();

  return {
    has: versions.has,
    refused: versions.refused,
    streams: versions.streams,
    holds: versions.holds,
    isAsking: versions.isAsking,
    active: versions.active,
    own: async () => joined([versions.active(), (await options.siblings?.()) ?? []]),
    async report({ part, limit }) {
      const found = isShared ? othersIn(store, prefix, now(), patience()) : Promise.resolve(noRecords);
      const others = await found.catch((cause: unknown) => {
        if (!(cause instanceof PortolanError)) throw cause;
        onError(cause);
        return noRecords;
      });
      const siblings = (await options.siblings?.()) ?? [];
      const known = joined([versions.active(), siblings, ...others.records]);
      const asked = known.filter(({ node }) => node.includes(part));
      const most = Math.max(Math.trunc(limit), 0);
      const { unread } = others;
      return {
        nodes: asked.slice(0, most),
        more: Math.max(asked.length - most, 0),
        ...(unread === 0 ? {} : { unread }),
      };
    },
    write,
    async close() {
      clearInterval(timer);
      await write();
    },
  };
}

const partOf = (nodeId: string): number => Number.parseInt(hashOf(nodeId).slice(0, 4), 16) % parts;

const keyOf = ({ node, cluster }: NodeStatus): string =>
  requestingNodeKey({ nodeId: node, ...(cluster === undefined ? {} : { clusterId: cluster }) });

const sorted = (nodes: readonly NodeStatus[]): readonly NodeStatus[] =>
  [...nodes].sort((a, b) => byCodePoint(keyOf(a), keyOf(b)));

/** What all fronts of a store have written of their nodes, by id; for whoever is none of them. */
export async function recordedIn(
  store: ObjectStore,
  nowMs: number,
  patience: AbortSignal = AbortSignal.timeout(recordsMs),
): Promise<Pick<NodeReport, "nodes" | "unread">> {
  const { records, unread } = await othersIn(store, undefined, nowMs, patience);
  return { nodes: joined(records), ...(unread === 0 ? {} : { unread }) };
}

/** What other fronts have written. */
interface OtherRecords {
  readonly records: readonly (readonly NodeStatus[])[];
  /** How many records were not read: they were too many or too large, or did not come in time. */
  readonly unread: number;
}

const noRecords: OtherRecords = { records: [], unread: 0 };

/**
 * What other fronts have written and still counts, read many at a time.
 *
 * @param patience fires when what has not come by then is left out
 * @throws PortolanError when the store cannot be read
 */
async function othersIn(
  store: ObjectStore,
  ownPrefix: string | undefined,
  nowMs: number,
  patience: AbortSignal,
): Promise<OtherRecords> {
  const late = Promise.withResolvers<"late">();
  const giveUp = () => late.resolve("late");
  patience.addEventListener("abort", giveUp);
  const keys: string[] = [];
  const found = new Map<string, NodeRecord>();
  let [listed, bytes, read] = [0, 0, 0];

  async function listKeys(): Promise<void> {
    for await (const { key } of store.list(recordPrefix)) {
      if (ownPrefix !== undefined && key.startsWith(ownPrefix)) continue;
      listed += 1;
      if (keys.length < maxRecords) keys.push(key);
      if (patience.aborted || listed > maxRecords) return;
    }
  }

  async function readKey(key: string): Promise<void> {
    if (patience.aborted || bytes >= maxRecordBytes) return;
    const result = await store.get(key);
    read += 1;
    if (result.kind !== "found") return;
    bytes += result.bytes.length;
    const record = readRecord(result.bytes);
    if (record === undefined || nowMs - Date.parse(record.at) >= recordMs) return;
    if (key.endsWith(`/${aliveName}`)) aliveAt.set(frontOf(key), Date.parse(record.at));
    else found.set(key, record);
  }

  /** What a record says of nodes that were heard holds as long as its front lives. */
  function nodesOf(key: string): readonly NodeStatus[] {
    const record = found.get(key);
    if (record === undefined) return [];
    const lastMs = Math.max(Date.parse(record.at), aliveAt.get(frontOf(key)) ?? 0);
    const isAlive = nowMs - lastMs < endedMs;
    return record.nodes.map((one) =>
      one.isOpen ? { ...one, isOpen: isAlive, seen: timeOf(isAlive ? nowMs : lastMs) } : one,
    );
  }

  const aliveAt = new Map<string, number>();

  const all = listKeys().then(() => inParallel(keys, readKey));
  let isLate = false;
  try {
    isLate = (await Promise.race([all, late.promise])) === "late";
  } finally {
    patience.removeEventListener("abort", giveUp);
    // What comes later is for nobody.
    all.catch(() => {});
  }
  // In the order of the keys, whichever came first.
  return { records: keys.map(nodesOf), unread: Math.max(listed - read, isLate ? 1 : 0) };
}

/** @returns undefined for what no front of this version wrote */
function readRecord(bytes: Uint8Array): NodeRecord | undefined {
  try {
    const record: Partial<NodeRecord> = JSON.parse(new TextDecoder().decode(bytes));
    const { at, nodes } = record;
    if (typeof at !== "string") return undefined;
    // Fronts of earlier versions did not write who is heard: theirs are while they live.
    const heard = { seen: at, isOpen: true, pauseMs: 0 };
    const kept = Array.isArray(nodes) ? nodes.filter(isStatus) : [];
    return { at, nodes: kept.map((one) => ({ ...heard, ...one })) };
  } catch {
    return undefined;
  }
}

const frontOf = (key: string): string => key.slice(0, key.lastIndexOf("/"));
const timeOf = (ms: number): string => new Date(ms).toISOString();

/** What is read of a status here and by whoever reports it: without it, it is no status. */
const isStatus = (value: unknown): value is NodeStatus =>
  isRecord(value) &&
  typeof value.node === "string" &&
  Array.isArray(value.resources) &&
  value.resources.every(isResource);

const isResource = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.type === "string" &&
  typeof value.version === "string" &&
  typeof value.since === "string";

/** One list of what several fronts know: of a resource that more than one does, what was said last. By id, type and name. */
function joined(lists: readonly (readonly NodeStatus[])[]): readonly NodeStatus[] {
  const nodes = Map.groupBy(lists.flat(), keyOf);
  return sorted(
    [...nodes.values()].map((said) => {
      const known = new Map<string, NodeResource>();
      // How it is served, whoever it spoke to last knows.
      const { resources: _, ...last } = said.reduce((a, b) => (lastSaid(a) < lastSaid(b) ? b : a));
      for (const resource of said.flatMap(({ resources }) => resources)) {
        const key = `${resource.type} ${resource.name ?? ""}`;
        const before = known.get(key);
        if (before === undefined || before.since < resource.since) known.set(key, resource);
      }
      const resources = [...known].sort(([a], [b]) => byCodePoint(a, b)).map(([, resource]) => resource);
      const seen = said.reduce((latest, one) => (latest < one.seen ? one.seen : latest), "");
      const heard = { seen, isOpen: said.some(({ isOpen }) => isOpen), pauseMs: pauseOf(said) };
      return { ...last, ...heard, resources };
    }),
  );
}

/** A node on streams has none of what it once had with polls. */
const pauseOf = (said: readonly NodeStatus[]): number => Math.max(...said.map(({ pauseMs }) => pauseMs));

const lastSaid = ({ resources }: NodeStatus): string =>
  resources.reduce((last, { since }) => (last < since ? since : last), "");
