/** Addresses of host names: which of the answers of DNS are in force, and for how long. */
import { causeText } from "../base/cause-text.ts";
import { byCodePoint, PortolanError } from "../base/diagnostic.ts";
import { ipFamily } from "../config/values/ip-address.ts";
import { type AddressRecord, type AskDns, type RecordType, recordTypes, usableRecords } from "./ask-dns.ts";

/** What is known of a host; times are milliseconds since the epoch. */
export interface HostState {
  /** In force; sorted. */
  readonly addresses?: readonly string[];
  /** How long the answer counts, within bounds. */
  readonly ttlMs?: number;
  /** The addresses of recent answers, and when each was last in one. */
  readonly seen?: Readonly<Record<string, number>>;
  /** When an answer last had an address again that the one before had not: the name gives its addresses in turns. */
  readonly rotatesMs?: number;
}

/** So often a name is asked for at most, whatever its owner says, and so seldom at least. */
const minTtlMs = 10_000;
export const maxTtlMs = 10 * 60_000;

/** Of a host; each is an endpoint of every service behind it. */
const maxAddresses = 32;
const maxSeen = 2 * maxAddresses;

/** Who gives its addresses in turns has given each of them within so many questions. */
const turns = 3;

/**
 * Asks for the addresses of a host in both families. What a family had is kept where only the other one is answered.
 *
 * @param intervalMs since it was asked before
 * @throws PortolanError where neither is answered, or the host has no address: a name is not taken away by mistake
 */
export async function lookUpHost(
  host: string,
  before: HostState,
  { askDns, signal, nowMs, intervalMs }: Asking,
): Promise<HostState & { readonly problem?: string }> {
  const answers = await Promise.all(
    recordTypes.map(async (type): Promise<FamilyAnswer> => {
      try {
        return { type, records: usableRecords(await askDns(host, type, signal), type) };
      } catch (cause) {
        return { type, problem: causeText(cause) };
      }
    }),
  );
  const problems = answers.flatMap(({ problem }) => problem ?? []);
  if (problems.length === answers.length) throw new PortolanError([...new Set(problems)].join("; "));
  const records = answers.flatMap(({ records = [] }) => records);
  if (records.length === 0) {
    const reason = problems.length === 0 ? `DNS has no address for ${host}` : problems.join("; ");
    throw new PortolanError(reason);
  }
  const kept = answers.flatMap(({ type, problem }) =>
    problem === undefined
      ? []
      : (before.addresses ?? []).filter((one) => (ipFamily(one) === "IPv6") === (type === "AAAA")),
  );
  const ttlMs = Math.min(...records.map(({ ttlSeconds }) => ttlSeconds)) * 1000;
  const answer = new Set([...records.map(({ address }) => address), ...kept]);
  return {
    ...afterAnswer(before, answer, { nowMs, recentMs: Math.max(maxTtlMs, turns * intervalMs) }),
    ttlMs: Math.min(Math.max(ttlMs, minTtlMs), maxTtlMs),
    ...(problems.length === 0 ? {} : { problem: problems.join("; ") }),
  };
}

interface Asking {
  readonly askDns: AskDns;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  readonly intervalMs: number;
}

interface FamilyAnswer {
  readonly type: RecordType;
  readonly records?: readonly AddressRecord[];
  readonly problem?: string;
}

/**
 * A new answer takes the place of the one before, so that a host that moves has left its old address with the next question. A name that
 * gives its addresses in turns has all of them that it has given lately: otherwise every question would be another version of the mesh.
 */
export function afterAnswer(
  { addresses = [], seen = {}, rotatesMs }: HostState,
  answer: ReadonlySet<string>,
  { nowMs, recentMs }: { readonly nowMs: number; readonly recentMs: number },
): Omit<HostState, "ttlMs"> {
  const times = Object.entries(seen).map(([address, ms]): [string, number] => [address, Math.min(ms, nowMs)]);
  const recent = times.filter(([, ms]) => nowMs - ms < recentMs);
  const lastMs = Math.max(...times.map(([, ms]) => ms));
  const isBack = recent.some(([address, ms]) => answer.has(address) && ms < lastMs);
  // A time that is yet to come is from before the clock was set back.
  const turnedMs = isBack ? nowMs : rotatesMs && Math.min(rotatesMs, nowMs);
  const rotates = turnedMs !== undefined && nowMs - turnedMs < recentMs;
  const now = new Map([
    ...recent,
    ...[...answer].sort(byCodePoint).map((address): [string, number] => [address, nowMs]),
  ]);
  const isInForce = new Set(addresses);
  const candidates = rotates ? [...now.keys()] : [...now.keys()].filter((address) => answer.has(address));
  // Where there are too many, those that proxies have stay.
  const ordered = candidates.sort((a, b) => Number(isInForce.has(b)) - Number(isInForce.has(a)) || byCodePoint(a, b));
  const newest = [...now].sort(([, a], [, b]) => b - a).slice(0, maxSeen);
  return {
    addresses: ordered.slice(0, maxAddresses).sort(byCodePoint),
    seen: Object.fromEntries(newest),
    ...(rotates ? { rotatesMs: turnedMs } : {}),
  };
}
