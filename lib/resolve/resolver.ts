/**
 * Looks up what served configuration wants to know of a network, and fills a source with it. The compiler reads that source like any other,
 * so a compile asks no network, and can be made again from what is stored.
 * @see docs/network-inputs.md
 */

import { PortolanError } from "../base/diagnostic.ts";
import { storedFacts } from "../compile/resolved/stored-facts.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { Trust } from "../snapshot/head/signatures.ts";
import { inParallel } from "../storage/in-parallel.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { giveAddresses } from "./allocation-state.ts";
import type { AskDns } from "./ask-dns.ts";
import type { Fetch, FetchRules } from "./fetch-text.ts";
import { fillSource } from "./fill-source.ts";
import { dueMs, failedLookUp, isDue, type LookUpTools, lookUp } from "./look-up.ts";
import { type Lookup, lookupKind, lookupName } from "./lookup-name.ts";
import { type LookupState, type ReadState, type ResolverState, readState, writeState } from "./resolver-state.ts";
import { createWantedReader } from "./wanted.ts";

/** So many are looked up of each kind. */
const maxLookups = 256;

/** How long what was found is kept after no root wants it any more: a rollback may want it again, and nobody asks for it meanwhile. */
const keptMs = 24 * 3_600_000;

/** Of these so many. */
const maxUnwanted = 64;

const maxAttempts = 4;

export interface ResolverOptions extends FetchRules {
  readonly store: ObjectStore;
  readonly fetch: Fetch;
  readonly askDns: AskDns;
  /** Milliseconds since the epoch; counts where the store has no clock. */
  readonly now: () => number;
  readonly trust?: Trust;
  /** Credentials of registries that images of modules are pulled from; absent: none can be read. */
  readonly secrets?: Pick<SecretStore, "get"> | undefined;
  /** Of a module, in bytes; 64 MiB when absent. */
  readonly maxModuleBytes?: number | undefined;
}

export interface Resolution {
  /** Whether the source is another now, so that a compile would make something else. */
  readonly hasChanged: boolean;
  /** The attempts of this run, by name. */
  readonly tried: ReadonlyMap<string, LookupState>;
  /** How many are wanted and were not looked at, since there are too many; 0 as a rule. */
  readonly beyond: number;
  /** In how many milliseconds the next look-up is due; undefined: none is wanted. */
  readonly nextInMs?: number | undefined;
}

/** Nothing was due, or is wanted. */
export const nothingResolved: Resolution = { hasChanged: false, tried: new Map(), beyond: 0 };

/** Looks up what is due; with `all` whatever is wanted. */
export type Resolver = (asked?: { readonly all?: boolean }) => Promise<Resolution>;

export function createResolver(options: ResolverOptions): Resolver {
  const { store, now, trust } = options;
  const readWanted = createWantedReader(store, trust);
  /** Whether the store was seen to have no look-ups: of a mesh that wants none it is not asked again. */
  let isIdle = false;
  return async ({ all = false } = {}) => {
    const { lookups, services, taken, compiled, holdsModules } = await readWanted();
    const isWanting = lookups.length + services.length > 0 || holdsModules;
    if (!isWanting) {
      // What is not wanted any more is noted so, or would count as old for ever.
      isIdle ||= (await readState(store)).state.size === 0;
      if (isIdle) return nothingResolved;
    } else isIdle = false;
    const nowMs = (await store.time?.()) ?? now();
    if (services.length > 0) await giveAddresses(store, { services, taken }, nowMs);
    const looked = await lookUpDue(lookups, all, nowMs, options);
    // Also where nothing was due: a process may have ended between storing what it found, filling the source, and compiling it.
    return { ...looked, hasChanged: (await fillSource(store)) !== compiled };
  };
}

/** Looks up what is due, and stores what came of it. */
async function lookUpDue(
  wanted: readonly Lookup[],
  all: boolean,
  nowMs: number,
  options: ResolverOptions,
): Promise<Omit<Resolution, "hasChanged">> {
  const { store } = options;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const read = await seeded(store, await readState(store), nowMs);
    const lookups = withinBound(wanted, read.state);
    const beyond = wanted.length - lookups.length;
    const nextInMs = (state: ResolverState) => (lookups.length === 0 ? undefined : nextOf(lookups, state) - nowMs);
    const isDueNow = (name: string): boolean => isDue(name, read.state.get(name), nowMs);
    const due = all ? lookups : lookups.filter((lookup) => isDueNow(lookupName(lookup)));
    const names = new Set(wanted.map(lookupName));
    if (due.length === 0 && !hasPassed(read.state, names, nowMs))
      return { tried: new Map(), beyond, nextInMs: nextInMs(read.state) };
    const isModule = (lookup: Lookup): lookup is ModuleLookup => "module" in lookup;
    const late = AbortSignal.timeout(options.withinMs);
    const tried = await lookUpAll(
      due.filter((lookup) => !isModule(lookup)),
      { before: read.state, tools: toolsOf(options, nowMs), late },
    );
    const state = stateAfter(read.state, tried, names, nowMs);
    // Whoever was faster has asked the same hosts just now.
    if (!(await writeState(store, { state, etag: read.etag }))) continue;
    const modules = due.filter(isModule);
    if (modules.length === 0) return { tried, beyond, nextInMs: nextInMs(state) };
    // A module may end the process, which is to cost nothing that was found before.
    await fillSource(store);
    const run = {
      names,
      nowMs,
      late,
      isDue: (name: string, one: LookupState | undefined) => all || isDue(name, one, nowMs),
    };
    const fetched = await fetchModules(modules, state, run, options);
    const { state: after } = await readState(store);
    return { tried: new Map([...tried, ...fetched]), beyond, nextInMs: nextInMs(after) };
  }
  throw new PortolanError("others look up the same all the time; this attempt was given up, and the next one is soon");
}

/** When the first of them is due, in milliseconds since the epoch. */
const nextOf = (lookups: readonly Lookup[], state: ResolverState): number =>
  Math.min(...lookups.map(lookupName).map((name) => dueMs(name, state.get(name))));

/** Whether something is not wanted any more, and is to be noted so, or to go. */
const hasPassed = (state: ResolverState, wanted: ReadonlySet<string>, nowMs: number): boolean =>
  [...state].some(
    ([name, { sinceMs, wantedMs }]) => !wanted.has(name) && (sinceMs !== undefined || nowMs - wantedMs >= keptMs),
  );

/**
 * Makes look-ups in their order, some at a time. Those that hang keep the others waiting for no longer than one of them may take: what was
 * not begun by then is due at the next run.
 */
async function lookUpAll(
  due: readonly Lookup[],
  { before, tools, late }: { readonly before: ResolverState; readonly tools: LookUpTools; readonly late: AbortSignal },
): Promise<ResolverState> {
  const tried = new Map<string, LookupState>();
  await inParallel(due, async (lookup) => {
    if (late.aborted) return;
    const name = lookupName(lookup);
    tried.set(name, await lookUp(lookup, before.get(name), tools));
  });
  return tried;
}

const toolsOf = (options: ResolverOptions, nowMs: number): LookUpTools => {
  const { fetch, askDns, store, secrets, allowedHosts, withinMs, maxModuleBytes } = options;
  return { fetch, askDns, rules: { allowedHosts, withinMs }, nowMs, store, secrets, maxModuleBytes };
};

type ModuleLookup = Extract<Lookup, { readonly module: unknown }>;

interface ModuleRun {
  /** All that is wanted, by name. */
  readonly names: ReadonlySet<string>;
  readonly nowMs: number;
  readonly late: AbortSignal;
  readonly isDue: (name: string, state: LookupState | undefined) => boolean;
}

/**
 * Fetches modules one after the other, since each may fill much memory: the one that has waited longest first, so that none starves behind
 * hosts that hang. Before each the store is told that it failed, and after it what came of it. A process that a module has ended therefore
 * waits before it tries the same again, and others take their turn.
 */
async function fetchModules(
  modules: readonly ModuleLookup[],
  before: ResolverState,
  { names, nowMs, late, isDue }: ModuleRun,
  options: ResolverOptions,
): Promise<ResolverState> {
  const tried = new Map<string, LookupState>();
  const triedMs = (lookup: Lookup) => before.get(lookupName(lookup))?.triedMs ?? 0;
  for (const lookup of modules.toSorted((a, b) => triedMs(a) - triedMs(b))) {
    if (late.aborted) break;
    const name = lookupName(lookup);
    const { state } = await readState(options.store);
    const known = state.get(name);
    // Another resolver has begun it.
    if (!isDue(name, known)) continue;
    await note(options.store, new Map([[name, failedLookUp(known, nowMs, unended)]]), names, nowMs);
    const found = await lookUp(lookup, known, toolsOf(options, nowMs));
    await note(options.store, new Map([[name, found]]), names, nowMs);
    tried.set(name, found);
  }
  return tried;
}

/** What is stored of a module while it is fetched, and stays where that ends the process. */
const unended =
  "its fetch has begun and not ended; where this stays, the process ended over it: is the module larger than the process has memory for?";

/** Stores what came of some look-ups, beside what others have stored meanwhile. */
async function note(
  store: ObjectStore,
  tried: ResolverState,
  names: ReadonlySet<string>,
  nowMs: number,
): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const { state, etag } = await readState(store);
    if (await writeState(store, { state: stateAfter(state, tried, names, nowMs), etag })) return;
  }
  throw new PortolanError("others look up the same all the time; this attempt was given up, and the next one is soon");
}

/** A state that is lost, or damaged, has what is in force, and asks for all of it anew. */
async function seeded(store: ObjectStore, read: ReadState, nowMs: number): Promise<ReadState> {
  if (read.state.size > 0) return read;
  const { jwks = [], hosts = [], modules = [] } = await storedFacts(store);
  const anew = { triedMs: 0, failures: 0, failed: 0, wantedMs: nowMs, sinceMs: nowMs };
  const known = [
    ...jwks.map((fact) => [lookupName(fact), { jwks: fact.jwks, ...anew }] as const),
    ...hosts.map((fact) => [lookupName(fact), { addresses: fact.addresses, ...anew }] as const),
    ...modules.map(({ of, sha256 }) => [`module ${of}`, { sha256, ...anew }] as const),
  ];
  return { ...read, state: new Map<string, LookupState>(known) };
}

/** Those that have been wanted longest come first: whoever names many new ones costs nobody what is looked up already. */
function withinBound(wanted: readonly Lookup[], state: ResolverState): readonly Lookup[] {
  const sinceMs = (lookup: Lookup): number => state.get(lookupName(lookup))?.sinceMs ?? Number.POSITIVE_INFINITY;
  const longestFirst = wanted.toSorted((a, b) => Math.sign(sinceMs(a) - sinceMs(b)) || 0);
  const ofKind = Map.groupBy(longestFirst, (lookup) => lookupKind(lookupName(lookup)));
  return [...ofKind.values()].flatMap((lookups) => lookups.slice(0, maxLookups));
}

function stateAfter(
  before: ResolverState,
  tried: ResolverState,
  wanted: ReadonlySet<string>,
  nowMs: number,
): ResolverState {
  const all = [...before, ...tried].map(([name, state]): [string, LookupState] => {
    const { sinceMs: _sinceMs, ...unwanted } = state;
    const { sinceMs = nowMs } = before.get(name) ?? {};
    return [name, wanted.has(name) ? { ...state, wantedMs: nowMs, sinceMs } : unwanted];
  });
  const entries = [...new Map(all)].sort(([a], [b]) => (a < b ? -1 : 1));
  const unwanted = entries
    .filter(([name, { wantedMs }]) => !wanted.has(name) && nowMs - wantedMs < keptMs)
    .sort(([, a], [, b]) => b.wantedMs - a.wantedMs)
    .slice(0, maxUnwanted);
  const kept = new Set(unwanted.map(([name]) => name));
  return new Map(entries.filter(([name]) => wanted.has(name) || kept.has(name)));
}
