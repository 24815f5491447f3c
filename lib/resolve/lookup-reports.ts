import { isFields, jsonIn } from "../base/untyped.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type LookupKind, lookupKind, lookupPlace } from "./lookup-name.ts";
import { type LookupState, readState } from "./resolver-state.ts";

/** A look-up, for people and programs. Times are RFC 3339. */
export interface LookupReport {
  /** `jwks`: a key set; `host`: the addresses of a host; `module`: a module of Wasm. */
  readonly kind: LookupKind;
  /**
   * The URL of a key set, or an issuer whose discovery document names it; a host; the URL of a module, with its hash and Secret where it
   * has them.
   */
  readonly of: string;
  /** `fresh`: read lately; `stale`: its origin fails, and what was found before is in force; `missing`: nothing was ever found. */
  readonly state: "fresh" | "stale" | "missing";
  /** Of a key set: how many there are. */
  readonly keys?: number;
  /** Of a host: those in force, sorted. */
  readonly addresses?: readonly string[];
  /** Of a module that was fetched, lower-case hex. */
  readonly sha256?: string;
  readonly fetchedAt?: string;
  readonly failingSince?: string;
  /** Why it fails, or what of it is not used. */
  readonly problem?: string;
}

/** All that a resolver looks up for a store, by name. */
export async function lookupReports(store: ObjectStore): Promise<readonly LookupReport[]> {
  return (await wantedStates(store)).map(([name, one]) => reportOf(name, one));
}

/** What is kept for a rollback alone is not asked for, so it fails for nobody, and grows old without harm. */
async function wantedStates(store: ObjectStore): Promise<readonly (readonly [string, LookupState])[]> {
  const { state } = await readState(store);
  return [...state].filter(([, { sinceMs }]) => sinceMs !== undefined);
}

const timeText = (ms: number): string => new Date(ms).toISOString();

function reportOf(
  name: string,
  { jwks, addresses, sha256, fetchedMs, failingMs, failures, problem }: LookupState,
): LookupReport {
  const kind = lookupKind(name);
  const isMissing = (jwks ?? addresses ?? sha256) === undefined;
  return {
    kind,
    of: lookupPlace(name),
    state: isMissing ? "missing" : failures > 0 ? "stale" : "fresh",
    ...(kind === "jwks" ? { keys: keysIn(jwks) } : {}),
    ...(kind === "host" ? { addresses: addresses ?? [] } : {}),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(fetchedMs === undefined ? {} : { fetchedAt: timeText(fetchedMs) }),
    ...(failingMs === undefined ? {} : { failingSince: timeText(failingMs) }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function keysIn(jwks: string | undefined): number {
  const read = jwks === undefined ? undefined : jsonIn(jwks);
  return isFields(read) && Array.isArray(read.keys) ? read.keys.length : 0;
}

/** What a metric says of the look-ups of one host. */
export interface LookupFacts {
  readonly kind: LookupKind;
  readonly host: string;
  /** Seconds since the oldest of them was read, or was first asked for in vain. */
  readonly ageSeconds: number;
  /** Attempts that ever failed. */
  readonly failed: number;
}

/**
 * One for each kind and host.
 *
 * @param now milliseconds since the epoch; counts where the store has no clock, by which a resolver notes its times
 */
export async function lookupFacts(store: ObjectStore, now: () => number): Promise<readonly LookupFacts[]> {
  const states = await wantedStates(store);
  if (states.length === 0) return [];
  const nowMs = (await store.time?.()) ?? now();
  const byHost = new Map<string, LookupFacts>();
  for (const [name, { fetchedMs, failingMs, triedMs, failed }] of states) {
    const kind = lookupKind(name);
    const host = kind === "host" ? lookupPlace(name) : (URL.parse(lookupPlace(name))?.host ?? "");
    const place = `${kind} ${host}`;
    const ageSeconds = Math.max(0, nowMs - (fetchedMs ?? failingMs ?? triedMs)) / 1000;
    const before = byHost.get(place);
    byHost.set(place, {
      kind,
      host,
      ageSeconds: Math.max(ageSeconds, before?.ageSeconds ?? 0),
      failed: failed + (before?.failed ?? 0),
    });
  }
  return [...byHost.values()];
}
