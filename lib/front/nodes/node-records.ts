/** What nodes have, as fronts tell each other: small records in the store, written when something changes. */
import { byCodePoint, PortolanError } from "../../config/diagnostic.ts";
import type { Limits } from "../../limits/limits.ts";
import { hashOf } from "../../snapshot/blob.ts";
import { isRecord } from "../../snapshot/classifier.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";
import { askerKey } from "./asker.ts";
import { createNodeVersions } from "./node-versions.ts";
import type { NodeQuestion, NodeReport, NodeResource, NodeStatus, NodeWatch } from "./node-watch.ts";

/** Before the keys of all records: `status/<front>/<part>`. */
const recordPrefix = "status/";

/** How long a record counts. A front that lives writes its own again in half of it. */
const recordMs = 24 * 3_600_000;

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
  standing(): readonly NodeStatus[];
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
  const versions = createNodeVersions(now, (nodeId) => changed.add(partOf(nodeId)), options.limits);
  const isShared = options.front !== undefined;
  const prefix = `${recordPrefix}${encodeKeyPart(options.front ?? "")}/`;
  let writing: Promise<void> = Promise.resolve();

  async function writeChanged(): Promise<void> {
    for (const [part, atMs] of writtenMs) if (now() - atMs > recordMs / 2) changed.add(part);
    const due = [...changed];
    changed.clear();
    const standing = due.length === 0 ? [] : versions.standing();
    for (const part of due) {
      const nodes = sorted(standing.filter(({ node }) => partOf(node) === part));
      const record: NodeRecord = { at: new Date(now()).toISOString(), nodes };
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
    standing: versions.standing,
    async report({ part, limit }) {
      const found = isShared ? othersIn(store, prefix, now(), patience()) : Promise.resolve(noRecords);
      const others = await found.catch((cause: unknown) => {
        if (!(cause instanceof PortolanError)) throw cause;
        onError(cause);
        return noRecords;
      });
      const siblings = (await options.siblings?.()) ?? [];
      const known = joined([versions.standing(), siblings, ...others.records]);
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
  askerKey({ nodeId: node, ...(cluster === undefined ? {} : { clusterId: cluster }) });

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
  const found = new Map<string, readonly NodeStatus[]>();
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
    if (record !== undefined && nowMs - Date.parse(record.at) < recordMs) found.set(key, record.nodes);
  }

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
  return { records: keys.flatMap((key) => [found.get(key) ?? []]), unread: Math.max(listed - read, isLate ? 1 : 0) };
}

/** @returns undefined for what no front of this version wrote */
function readRecord(bytes: Uint8Array): NodeRecord | undefined {
  try {
    const record: Partial<NodeRecord> = JSON.parse(new TextDecoder().decode(bytes));
    const { at, nodes } = record;
    return typeof at === "string" && Array.isArray(nodes) ? { at, nodes: nodes.filter(isStatus) } : undefined;
  } catch {
    return undefined;
  }
}

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
      return { ...last, resources };
    }),
  );
}

const lastSaid = ({ resources }: NodeStatus): string =>
  resources.reduce((last, { since }) => (last < since ? since : last), "");
