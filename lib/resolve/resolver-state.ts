/** What a resolver knows besides its facts: when it asked, and what went wrong. It lies in one object of the store, which no compile reads. */
import { fieldsOf, isFields, listOf } from "../base/untyped.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { HostState } from "./look-up-host.ts";
import type { KeyState } from "./look-up-keys.ts";
import type { ModuleState } from "./modules/fetch-module.ts";
import { readEntries, writeEntries } from "./stored-entries.ts";

/** Below the compile function's own prefix, which it may write everywhere. */
const stateKey = "compile/resolved";

/** Of a look-up, with what it has found; times are milliseconds since the epoch. */
export interface LookupState extends KeyState, HostState, ModuleState {
  /** When its origin last said that it is the newest. */
  readonly fetchedMs?: number;
  readonly triedMs: number;
  /** Attempts that failed in a row; 0: the last one went well. */
  readonly failures: number;
  /** All attempts that ever failed. */
  readonly failed: number;
  /** When these began. */
  readonly failingMs?: number;
  /** Why the last attempt failed, or what of its answer could not be used. */
  readonly problem?: string;
  /** When a served root last wanted it. */
  readonly wantedMs: number;
  /** Since when roots have wanted it without a break; absent: none does now. */
  readonly sinceMs?: number;
}

/** By `uri <URL>`, `issuer <issuer>`, `host <host>` or `module <name>`. */
export type ResolverState = ReadonlyMap<string, LookupState>;

export interface ReadState {
  readonly state: ResolverState;
  readonly etag: string | undefined;
}

/** The stored state; an object that is something else is none, and is replaced. */
export async function readState(store: ObjectStore): Promise<ReadState> {
  const { entries, etag } = await readEntries(store, stateKey, isState);
  return { state: entries, etag };
}

const isState = (value: unknown): value is LookupState =>
  isFields(value) &&
  [value.triedMs, value.failures, value.failed, value.wantedMs].every((one) => typeof one === "number") &&
  [value.ttlMs, value.rotatesMs].every((one) => one === undefined || typeof one === "number") &&
  [value.jwks, value.sha256, value.etag, value.problem].every((one) => one === undefined || typeof one === "string") &&
  listOf(value.addresses).every((one) => typeof one === "string") &&
  Object.values(fieldsOf(value.seen)).every((one) => typeof one === "number");

/** @returns false where somebody else has written it since it was read */
export const writeState = (store: ObjectStore, { state, etag }: ReadState): Promise<boolean> =>
  writeEntries(store, stateKey, { entries: state, etag });
