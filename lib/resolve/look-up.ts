import { causeText } from "../base/cause-text.ts";
import type { WantedModule } from "../config/kinds/wasm-module.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { AskDns } from "./ask-dns.ts";
import { type Fetch, type FetchRules, fetchText, NotAllowed, type TextRequest } from "./fetch-text.ts";
import { type HostState, lookUpHost, maxTtlMs } from "./look-up-host.ts";
import { type KeyState, lookUpKeys } from "./look-up-keys.ts";
import { type Lookup, lookupKind } from "./lookup-name.ts";
import { fetchModule, type ModuleState, moduleWithinMs } from "./modules/fetch-module.ts";
import type { LookupState } from "./resolver-state.ts";

/** How long keys are believed before they are asked for again, as in Istio; and modules that may move. */
const freshMs = 20 * 60_000;

const firstRetryMs = 15_000;
/** A host may have moved while DNS was silent, so it is asked for again sooner than an issuer or a registry. */
const lastRetryMs = { jwks: freshMs, host: 60_000, module: freshMs } as const;

/** When a look-up is to be made again, in milliseconds since the epoch; 0: now. */
export function dueMs(name: string, state: LookupState | undefined): number {
  if (state === undefined) return 0;
  const kind = lookupKind(name);
  const fresh = kind === "host" ? (state.ttlMs ?? maxTtlMs) : freshMs;
  const retry = Math.min(lastRetryMs[kind], firstRetryMs * 2 ** Math.min(state.failures - 1, 10));
  return state.triedMs + (state.failures === 0 ? fresh : retry);
}

/** Whether a look-up is to be made now. A clock that was set back does not keep it waiting. */
export const isDue = (name: string, state: LookupState | undefined, nowMs: number): boolean =>
  state === undefined || state.triedMs > nowMs || nowMs >= dueMs(name, state);

/** How a look-up is made. */
export interface LookUpTools {
  readonly fetch: Fetch;
  readonly askDns: AskDns;
  readonly rules: FetchRules;
  readonly nowMs: number;
  /** Where modules are kept. */
  readonly store: ObjectStore;
  /** Credentials of registries; absent: none can be read. */
  readonly secrets?: Pick<SecretStore, "get"> | undefined;
  /** Of a module, in bytes; 64 MiB when absent. */
  readonly maxModuleBytes?: number | undefined;
}

/** What was found, of the kind that was looked up, and is in force from now on. */
type Found = KeyState & HostState & ModuleState;

/** What is known of a look-up after another attempt. What was found stays in force, however often it fails. */
export async function lookUp(
  lookup: Lookup,
  before: LookupState | undefined,
  tools: LookUpTools,
): Promise<LookupState> {
  const { nowMs } = tools;
  const known = knownOf(before);
  try {
    const intervalMs = Math.max(0, nowMs - (before?.triedMs ?? nowMs));
    const { problem, ...found } = await find(lookup, known, tools, intervalMs);
    return {
      ...found,
      triedMs: nowMs,
      fetchedMs: nowMs,
      failures: 0,
      failed: before?.failed ?? 0,
      wantedMs: nowMs,
      ...(problem === undefined ? {} : { problem: bounded(problem) }),
    };
  } catch (cause) {
    // Whoever may ask goes on doing so: what this process may not says nothing of the origin.
    if (cause instanceof NotAllowed && before !== undefined && Object.keys(known).length > 0)
      return { ...before, problem: bounded(cause.message), wantedMs: nowMs };
    return failedLookUp(before, nowMs, causeText(cause));
  }
}

/** What is known of a look-up after an attempt that failed. */
export const failedLookUp = (before: LookupState | undefined, nowMs: number, problem: string): LookupState => ({
  ...knownOf(before),
  ...(before?.fetchedMs === undefined ? {} : { fetchedMs: before.fetchedMs }),
  triedMs: nowMs,
  failures: (before?.failures ?? 0) + 1,
  failed: (before?.failed ?? 0) + 1,
  failingMs: before?.failingMs ?? nowMs,
  problem: bounded(problem),
  wantedMs: nowMs,
});

/**
 * @param intervalMs since it was looked up before
 * @returns besides, what of an answer is not used
 */
async function find(
  lookup: Lookup,
  known: Found,
  tools: LookUpTools,
  intervalMs: number,
): Promise<Found & { readonly problem?: string }> {
  if ("module" in lookup) return findModule(lookup.module, known, tools);
  const { fetch, askDns, rules, nowMs } = tools;
  const signal = AbortSignal.timeout(rules.withinMs);
  if ("host" in lookup) return lookUpHost(lookup.host, known, { askDns, signal, nowMs, intervalMs });
  return lookUpKeys(lookup, known, (request: TextRequest) => fetchText(fetch, rules, { ...request, signal }));
}

async function findModule(
  module: WantedModule,
  { sha256, etag }: ModuleState,
  { rules, ...tools }: LookUpTools,
): Promise<ModuleState> {
  const known = sha256 === undefined ? undefined : { sha256, etag };
  const withinMs = Math.max(rules.withinMs, moduleWithinMs);
  const found = await fetchModule(module, known, { ...tools, rules: { ...rules, withinMs } });
  return { sha256: found.sha256, ...(found.etag === undefined ? {} : { etag: found.etag }) };
}

/** What an earlier attempt has found. A tag counts with the keys or the module that it names. */
function knownOf(before: LookupState | undefined): Found {
  const { jwks, sha256, etag, addresses, ttlMs, seen, rotatesMs } = before ?? {};
  const isTagged = (jwks ?? sha256) !== undefined && etag !== undefined;
  return {
    ...(jwks === undefined ? {} : { jwks }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(isTagged ? { etag } : {}),
    ...(addresses === undefined ? {} : { addresses }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(seen === undefined ? {} : { seen }),
    ...(rotatesMs === undefined ? {} : { rotatesMs }),
  };
}

/** What an origin says may be long, and is stored. */
const bounded = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}…` : text);
