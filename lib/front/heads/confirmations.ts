import { hashOf } from "../../base/blob.ts";
import { parseNodeId } from "../../base/classifier.ts";
import { type Caller, identityOf } from "../auth/caller.ts";

/** Whom a confirmation is of: what one caller says counts for what the same caller asks, and for nobody else. */
export interface Confirmer {
  readonly nodeId: string;
  readonly caller: Caller;
  /** What tells one confirmer from another. */
  readonly key: string;
}

export function confirmerOf(nodeId: string, caller: Caller): Confirmer {
  return { nodeId, caller, key: `${identityOf(caller)}\n${nodeId}` };
}

/**
 * Which version of its clusters each node has said last that it has. It is there to be lost: a node of which nothing is known waits
 * for the time of a switch.
 */
export interface Confirmations {
  /** To be told of a poll for clusters, and of the version that it brings, before it is answered or held. @returns to be called when the poll is over */
  asks(confirmer: Confirmer, version: string): () => void;
  /** To be told of the version that a request for clusters brings that is no poll. */
  told(confirmer: Confirmer, version: string): void;
  /** Whether a node has said last one of these versions; not where two Envoys say that they are this node. */
  hasOneOf(confirmer: Confirmer, versions: readonly string[]): Promise<boolean>;
  /** How often a poll that is held for a confirmation looks for it, since nobody wakes it; absent: whoever hears it does. */
  readonly lookMs?: number;
  /** Grows whenever another version is confirmed. */
  count(confirmer: Confirmer): number;
  /** Calls when it grows. @returns ends it */
  watch(confirmer: Confirmer, call: () => void): () => void;
}

interface Entry {
  version: string | undefined;
  toldMs: number;
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

/** Confirmations in the memory of one process. */
export interface MemoryConfirmations extends Confirmations {
  /** undefined when it is not known. */
  versionOf(confirmer: Confirmer): string | undefined;
  isDoubtful(confirmer: Confirmer): boolean;
  /** To be told that somebody else has heard a confirmer: whoever waits for him looks again. */
  wake(key: string): void;
}

export function memoryConfirmations(now: () => number): MemoryConfirmations {
  /** The one that was told of longest ago first. */
  const nodes = new Map<string, Entry>();
  const entryOf = (confirmer: Confirmer): Entry => {
    const key = shortKeyOf(confirmer);
    const entry = nodes.get(key) ?? {
      version: undefined,
      toldMs: 0,
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
    entry.toldMs = now();
    if (entry.version === version) return;
    entry.version = version;
    confirm(entry);
  };
  const isDoubtful = (confirmer: Confirmer): boolean => {
    const { polls = 0, doubtfulUntilMs = 0 } = nodes.get(shortKeyOf(confirmer)) ?? {};
    return polls > 1 || doubtfulUntilMs > now();
  };
  return {
    asks(confirmer, version) {
      const entry = entryOf(confirmer);
      entry.polls += 1;
      if (entry.polls > 1) entry.doubtfulUntilMs = now() + doubtMs;
      hear(entry, version);
      return () => {
        entry.polls -= 1;
      };
    },
    told(confirmer, version) {
      hear(entryOf(confirmer), version);
    },
    async hasOneOf(confirmer, versions) {
      const { version, toldMs = 0, polls = 0 } = nodes.get(shortKeyOf(confirmer)) ?? {};
      const isFresh = polls > 0 || now() - toldMs < factMs;
      return isFresh && versions.includes(version ?? "") && isOneEnvoy(confirmer) && !isDoubtful(confirmer);
    },
    versionOf: (confirmer) => nodes.get(shortKeyOf(confirmer))?.version,
    isDoubtful,
    wake(key) {
      const entry = nodes.get(shortOf(key));
      if (entry !== undefined) confirm(entry);
    },
    count: (confirmer) => nodes.get(shortKeyOf(confirmer))?.count ?? 0,
    watch(confirmer, call) {
      const { watchers } = entryOf(confirmer);
      watchers.add(call);
      return () => watchers.delete(call);
    },
  };
}

/** Only an id in Istio's form is one proxy's: any other may be in the bootstraps of many. */
export const isOneEnvoy = ({ nodeId }: Confirmer): boolean => parseNodeId(nodeId) !== undefined;

const shortOf = (key: string): string => (key.length > maxKeyLength ? hashOf(key) : key);
const shortKeyOf = ({ key }: Confirmer): string => shortOf(key);
