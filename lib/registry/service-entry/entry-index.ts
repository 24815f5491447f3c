import { byCodePoint, type Diagnostic } from "../../base/diagnostic.ts";
import { byAge, type Config } from "../../config/config.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import type { WorkloadEntry } from "../../config/kinds/workload-entry.ts";
import { keepSameItems, sameValue } from "../changes/same.ts";
import { ShardedMap } from "../changes/sharded-map.ts";
import type { Endpoint, Service } from "../service.ts";
import { entryEndpoints, hostEndpoints, selectedWorkloads } from "./convert-endpoints.ts";
import { entryServices } from "./convert-services.ts";
import { type EntrySettings, isHealthyEntry, type SelectableWorkload, selectableEntry } from "./workload.ts";

/** A ServiceEntry and its services. */
export interface EntryRecord {
  readonly config: Config<ServiceEntry>;
  readonly services: readonly Service[];
  readonly diagnostics: readonly Diagnostic[];
}

/** ServiceEntries and WorkloadEntries, converted and indexed; immutable. */
export interface EntryIndex {
  readonly settings: EntrySettings;
  /** By `namespace/name`. */
  readonly entries: ShardedMap<EntryRecord>;
  /** Service key `namespace/host` → the entries that declare it, oldest first. */
  readonly declaring: ShardedMap<readonly EntryRecord[]>;
  /** Entries of a namespace, oldest first. */
  readonly byNamespace: ReadonlyMap<string, readonly EntryRecord[]>;
  /** Address → the entries with an endpoint of their own at it, oldest first. */
  readonly inlineByAddress: ShardedMap<readonly EntryRecord[]>;
  /** By `namespace/name`; unhealthy ones are not in it. */
  readonly workloads: ShardedMap<SelectableWorkload>;
  /** Sorted by name. */
  readonly workloadsByNamespace: ReadonlyMap<string, readonly SelectableWorkload[]>;
  readonly workloadsByAddress: ShardedMap<readonly SelectableWorkload[]>;
}

export interface ConfigChanges {
  readonly removed: readonly Config[];
  readonly added: readonly Config[];
}

/** What differs between two indexes. */
export interface EntryDifference {
  /** Entries that went and came. */
  readonly entries: readonly EntryRecord[];
  /** WorkloadEntries that went and came. */
  readonly workloads: readonly SelectableWorkload[];
}

export interface EntryUpdate {
  readonly index: EntryIndex;
  readonly difference: EntryDifference;
}

export function emptyEntries(settings: EntrySettings): EntryIndex {
  return {
    settings,
    entries: ShardedMap.empty(),
    declaring: ShardedMap.empty(),
    byNamespace: new Map(),
    inlineByAddress: ShardedMap.empty(),
    workloads: ShardedMap.empty(),
    workloadsByNamespace: new Map(),
    workloadsByAddress: ShardedMap.empty(),
  };
}

function isServiceEntry(config: Config): config is Config<ServiceEntry> {
  return config.meta.kind === "ServiceEntry";
}

function isWorkloadEntry(config: Config): config is Config<WorkloadEntry> {
  return config.meta.kind === "WorkloadEntry";
}

function textKey(config: Config): string {
  return `${config.meta.namespace}/${config.meta.name}`;
}

function recordKey(record: EntryRecord): string {
  return textKey(record.config);
}

/** Everything that a write can change for the mesh; the version of the object is not among it. */
function sameRecord(a: EntryRecord, b: EntryRecord): boolean {
  return (
    sameValue({ ...a.config.meta, resourceVersion: "" }, { ...b.config.meta, resourceVersion: "" }) &&
    sameValue(a.config.spec, b.config.spec) &&
    sameValue(a.config.status, b.config.status) &&
    sameValue(a.config.origin, b.config.origin)
  );
}

function withServiceIdentity(before: EntryRecord | undefined, after: EntryRecord): EntryRecord {
  if (before === undefined) return after;
  const key = (service: Service): string => `${service.hostname} ${service.defaultAddress}`;
  const versionless = after.services.map((service) => {
    const known = before.services.find((other) => key(other) === key(service));
    return known !== undefined && sameValue({ ...known, resourceVersion: "" }, { ...service, resourceVersion: "" })
      ? known
      : service;
  });
  return { ...after, services: keepSameItems(before.services, versionless, key) };
}

/** Changes to a map of lists: each list copied once, whatever the number of changes to it. */
function listEdits<T>(read: (key: string) => readonly T[] | undefined) {
  const edited = new Map<string, T[]>();
  const list = (key: string): T[] => {
    let copy = edited.get(key);
    if (copy === undefined) {
      copy = [...(read(key) ?? [])];
      edited.set(key, copy);
    }
    return copy;
  };
  return {
    remove(key: string, item: T): void {
      const items = list(key);
      const at = items.indexOf(item);
      if (at >= 0) items.splice(at, 1);
    },
    add(key: string, item: T): void {
      list(key).push(item);
    },
    /** The edited lists in order; an empty one becomes undefined. */
    results(order: (a: T, b: T) => number): readonly (readonly [string, readonly T[] | undefined])[] {
      return [...edited].map(([key, items]) => [key, items.length === 0 ? undefined : items.sort(order)] as const);
    },
  };
}

function mapWith<V>(
  map: ReadonlyMap<string, V>,
  changes: readonly (readonly [string, V | undefined])[],
): ReadonlyMap<string, V> {
  if (changes.length === 0) return map;
  const copy = new Map(map);
  for (const [key, value] of changes) {
    if (value === undefined) copy.delete(key);
    else copy.set(key, value);
  }
  return copy;
}

const recordsByAge = (a: EntryRecord, b: EntryRecord): number => byAge(a.config, b.config);

function updateEntries(index: EntryIndex, changes: ConfigChanges, known: EntryIndex): EntryUpdate {
  const net = new Map<string, EntryRecord | undefined>();
  for (const config of changes.removed) if (isServiceEntry(config)) net.set(textKey(config), undefined);
  for (const config of changes.added) {
    if (isServiceEntry(config)) net.set(textKey(config), { config, ...entryServices(config) });
  }
  const written: [string, EntryRecord | undefined][] = [];
  const touched: EntryRecord[] = [];
  const declaring = listEdits((key) => index.declaring.get(key));
  const byNamespace = listEdits((key) => index.byNamespace.get(key));
  const inline = listEdits((key) => index.inlineByAddress.get(key));
  const addresses = (record: EntryRecord): ReadonlySet<string> =>
    new Set((record.config.spec.endpoints ?? []).map(({ address }) => address ?? "").filter((text) => text !== ""));
  const hostKeys = (record: EntryRecord): ReadonlySet<string> =>
    new Set(record.config.spec.hosts.map((host) => `${record.config.meta.namespace}/${host}`));
  for (const [key, made] of net) {
    const before = index.entries.get(key);
    if (before === undefined && made === undefined) continue;
    if (before !== undefined && made !== undefined && sameRecord(before, made)) continue;
    const after = made === undefined ? undefined : withServiceIdentity(known.entries.get(key), made);
    written.push([key, after]);
    if (before !== undefined) {
      touched.push(before);
      byNamespace.remove(before.config.meta.namespace, before);
      for (const host of hostKeys(before)) declaring.remove(host, before);
      for (const address of addresses(before)) inline.remove(address, before);
    }
    if (after !== undefined) {
      touched.push(after);
      byNamespace.add(after.config.meta.namespace, after);
      for (const host of hostKeys(after)) declaring.add(host, after);
      for (const address of addresses(after)) inline.add(address, after);
    }
  }
  return {
    index: {
      ...index,
      entries: index.entries.with(written),
      declaring: index.declaring.with(declaring.results(recordsByAge)),
      byNamespace: mapWith(index.byNamespace, byNamespace.results(recordsByAge)),
      inlineByAddress: index.inlineByAddress.with(inline.results(recordsByAge)),
    },
    difference: { entries: touched, workloads: [] },
  };
}

const workloadsByName = (a: SelectableWorkload, b: SelectableWorkload): number =>
  byCodePoint(a.namespace, b.namespace) || byCodePoint(a.name, b.name);

function updateWorkloads(index: EntryIndex, changes: ConfigChanges): EntryUpdate {
  const net = new Map<string, SelectableWorkload | undefined>();
  for (const config of changes.removed) if (isWorkloadEntry(config)) net.set(textKey(config), undefined);
  for (const config of changes.added) {
    if (!isWorkloadEntry(config)) continue;
    net.set(textKey(config), isHealthyEntry(config) ? selectableEntry(config, index.settings) : undefined);
  }
  const written: [string, SelectableWorkload | undefined][] = [];
  const touched: SelectableWorkload[] = [];
  const byNamespace = listEdits((key) => index.workloadsByNamespace.get(key));
  const byAddress = listEdits((key) => index.workloadsByAddress.get(key));
  for (const [key, after] of net) {
    const before = index.workloads.get(key);
    if (before === undefined ? after === undefined : after !== undefined && sameValue(before, after)) continue;
    written.push([key, after]);
    if (before !== undefined) {
      touched.push(before);
      byNamespace.remove(before.namespace, before);
      for (const address of before.endpoint.addresses) byAddress.remove(address, before);
    }
    if (after !== undefined) {
      touched.push(after);
      byNamespace.add(after.namespace, after);
      for (const address of after.endpoint.addresses) byAddress.add(address, after);
    }
  }
  return {
    index: {
      ...index,
      workloads: index.workloads.with(written),
      workloadsByNamespace: mapWith(index.workloadsByNamespace, byNamespace.results(workloadsByName)),
      workloadsByAddress: index.workloadsByAddress.with(byAddress.results(workloadsByName)),
    },
    difference: { entries: [], workloads: touched },
  };
}

/**
 * The index after some ServiceEntries and WorkloadEntries changed; configs of other kinds are passed over.
 *
 * @param known where services that come out equal are taken from; another index than `index` when all is made anew
 */
export function updateEntryIndex(index: EntryIndex, changes: ConfigChanges, known: EntryIndex = index): EntryUpdate {
  const workloads = updateWorkloads(index, changes);
  const entries = updateEntries(workloads.index, changes, known);
  return {
    index: entries.index,
    difference: { entries: entries.difference.entries, workloads: workloads.difference.workloads },
  };
}

/** Entries whose selector chooses a workload. */
export function selectingEntries(index: EntryIndex, workload: SelectableWorkload): readonly EntryRecord[] {
  return (index.byNamespace.get(workload.namespace) ?? []).filter(
    (record) => selectedWorkloads(record.config, [workload]).length > 0,
  );
}

/**
 * Endpoints of a host in a namespace: of all entries that declare it, oldest first, and once for each address that
 * an entry gives its services. An endpoint with DNS_ROUND_ROBIN counts only where it is the first on its port.
 *
 * @param pods pods of the namespace that selectors may choose
 */
export function endpointsOfHost(
  index: EntryIndex,
  serviceKey: string,
  pods: readonly SelectableWorkload[],
): readonly Endpoint[] {
  const endpoints: Endpoint[] = [];
  const taken = new Set<number>();
  for (const record of index.declaring.get(serviceKey) ?? []) {
    const { config } = record;
    const candidates = [...pods, ...(index.workloadsByNamespace.get(config.meta.namespace) ?? [])];
    const hostname = serviceKey.slice(serviceKey.indexOf("/") + 1);
    const own = [
      ...entryEndpoints(config, candidates, index.settings),
      ...hostEndpoints(config, hostname, index.settings),
    ];
    for (const service of record.services) {
      if (service.hostname !== hostname) continue;
      for (const endpoint of own) {
        const port = endpoint.servicePortNumber ?? 0;
        // A name that is used one address at a time stands alone, or behind nobody who was there first.
        if (service.resolution === "DNSRoundRobinLB" && taken.has(port)) continue;
        taken.add(port);
        endpoints.push(endpoint);
      }
    }
  }
  return endpoints;
}

/** Name and age tell an entry's records apart in diagnostics. */
export function entryDiagnostics(index: EntryIndex): readonly Diagnostic[] {
  return [...index.entries.values()]
    .filter((record) => record.diagnostics.length > 0)
    .sort((a, b) => byCodePoint(recordKey(a), recordKey(b)))
    .flatMap((record) => record.diagnostics);
}
