import { hashOf } from "../../base/blob.ts";
import { parseNodeId } from "../../base/classifier.ts";
import { type Caller, identityOf } from "../auth/caller.ts";

/** The sender of an ACK: the ACKs of a caller count only for requests of the same caller. */
export interface AckSource {
  readonly nodeId: string;
  readonly caller: Caller;
  /** Unique per node and caller. */
  readonly key: string;
}

export function ackSourceOf(nodeId: string, caller: Caller): AckSource {
  return { nodeId, caller, key: `${identityOf(caller)}\n${nodeId}` };
}

/**
 * The last CDS version that each node acknowledged. It may be lost at any time: a node without a known ACK waits for the time of the
 * stage.
 */
export interface CdsAcks {
  /** Records a poll for clusters and its version, before it is answered or held. @returns call it when the poll is over */
  asks(ackSource: AckSource, version: string): () => void;
  /** Records the version of a CDS request that is not a poll. */
  observed(ackSource: AckSource, version: string): void;
  /** Whether the node's last ACK is one of these versions; false if two Envoys use this node id. */
  hasOneOf(ackSource: AckSource, versions: readonly string[]): Promise<boolean>;
  /** How often a poll that is held for a confirmation looks for it, since nobody wakes it; absent: whoever hears it does. */
  readonly lookMs?: number;
  /** Grows with each ACK of another version. */
  count(ackSource: AckSource): number;
  /** Calls when it grows. @returns ends it */
  watch(ackSource: AckSource, call: () => void): () => void;
}

interface Entry {
  version: string | undefined;
  observedMs: number;
  count: number;
  /** Polls for clusters at this moment. An Envoy has one. */
  polls: number;
  /** Until then two Envoys were there at a time, and what is said is said by either. */
  doubtfulUntilMs: number;
  readonly watchers: Set<() => void>;
}

/** About 20 MB. Who asked longest ago is forgotten first. */
const maxNodes = 50_000;

/** A node's id may have a kilobyte: of a longer key its hash is kept. A longer version is none that was served. */
const maxKeyLength = 200;
const maxVersionLength = 64;

/**
 * How long what a poll has said counts once it is over: its node may say something else to another front since. Nothing is dropped so
 * soon after a switch, so what was true then is still enough.
 */
export const factMs = 2_000;

/** Longer than the polls of either of two Envoys are apart, held ones among them. */
const doubtMs = 60_000;

/** CDS ACKs in the memory of one process. */
export interface MemoryCdsAcks extends CdsAcks {
  /** undefined when it is not known. */
  versionOf(ackSource: AckSource): string | undefined;
  isDoubtful(ackSource: AckSource): boolean;
  /** Another process has received an ACK of this source: its waiting polls check again. */
  wake(key: string): void;
}

export function memoryCdsAcks(now: () => number): MemoryCdsAcks {
  /** The one that was told of longest ago first. */
  const nodes = new Map<string, Entry>();
  const entryOf = (ackSource: AckSource): Entry => {
    const key = shortKeyOf(ackSource);
    const entry = nodes.get(key) ?? {
      version: undefined,
      observedMs: 0,
      count: 0,
      polls: 0,
      doubtfulUntilMs: 0,
      watchers: new Set(),
    };
    nodes.delete(key);
    nodes.set(key, entry);
    if (nodes.size > maxNodes) forgetOldest();
    return entry;
  };
  const forgetOldest = () => {
    for (const [oldest] of nodes) return nodes.delete(oldest);
  };
  const confirm = (entry: Entry) => {
    entry.count += 1;
    for (const call of [...entry.watchers]) call();
  };
  const hear = (entry: Entry, said: string) => {
    const version = said.length > maxVersionLength ? "" : said;
    entry.observedMs = now();
    if (entry.version === version) return;
    entry.version = version;
    confirm(entry);
  };
  const isDoubtful = (ackSource: AckSource): boolean => {
    const { polls = 0, doubtfulUntilMs = 0 } = nodes.get(shortKeyOf(ackSource)) ?? {};
    return polls > 1 || doubtfulUntilMs > now();
  };
  return {
    asks(ackSource, version) {
      const entry = entryOf(ackSource);
      entry.polls += 1;
      if (entry.polls > 1) entry.doubtfulUntilMs = now() + doubtMs;
      hear(entry, version);
      return () => {
        entry.polls -= 1;
      };
    },
    observed(ackSource, version) {
      hear(entryOf(ackSource), version);
    },
    async hasOneOf(ackSource, versions) {
      const { version, observedMs = 0, polls = 0 } = nodes.get(shortKeyOf(ackSource)) ?? {};
      const isFresh = polls > 0 || now() - observedMs < factMs;
      return isFresh && versions.includes(version ?? "") && isOneEnvoy(ackSource) && !isDoubtful(ackSource);
    },
    versionOf: (ackSource) => nodes.get(shortKeyOf(ackSource))?.version,
    isDoubtful,
    wake(key) {
      const entry = nodes.get(shortOf(key));
      if (entry !== undefined) confirm(entry);
    },
    count: (ackSource) => nodes.get(shortKeyOf(ackSource))?.count ?? 0,
    watch(ackSource, call) {
      const { watchers } = entryOf(ackSource);
      watchers.add(call);
      return () => watchers.delete(call);
    },
  };
}

/** Only an id in Istio's form is one proxy's: any other may be in the bootstraps of many. */
export const isOneEnvoy = ({ nodeId }: AckSource): boolean => parseNodeId(nodeId) !== undefined;

const shortOf = (key: string): string => (key.length > maxKeyLength ? hashOf(key) : key);
const shortKeyOf = ({ key }: AckSource): string => shortOf(key);
