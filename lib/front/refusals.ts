import type { ResourceType } from "../snapshot/resource-type.ts";

/** A node that goes on asking with the version it had before it was served another: it has refused that one. */
export interface Refusal {
  readonly nodeId: string;
  readonly type: ResourceType;
  /** Name of the resource; "" for a type that comes whole. */
  readonly name: string;
  readonly refused: string;
  /** Version that it keeps; undefined when it never had one. */
  readonly kept: string | undefined;
  readonly sinceMs: number;
  readonly classId: string;
  /** Root that the refused answer came from. */
  readonly root: string;
}

/** REST has no NACK. Polls tell all the same, by the version they keep. */
export interface RefusalWatch {
  /** To be told of every poll before it is answered. */
  asked(poll: Subscription, version: string | undefined): void;
  /** To be told of every answer with content. */
  served(poll: Subscription, answer: ServedAnswer): void;
  /** To be told when what a node keeps is current again: there is nothing to refuse any more. */
  current(poll: Subscription): void;
  /** Refusals that stand now. */
  standing(): readonly Refusal[];
}

export interface Subscription {
  readonly nodeId: string;
  readonly type: ResourceType;
  readonly name: string;
}

/** An answer with content, and where it came from. */
export interface ServedAnswer {
  readonly kept: string | undefined;
  readonly version: string;
  readonly classId: string;
  readonly root: string;
}

interface Served extends Subscription, ServedAnswer {
  readonly sinceMs: number;
  polls: number;
}

/** A poll may cross an answer, so one poll with the old version says nothing yet. */
const pollsThatTell = 2;
const maxWatched = 20_000;

/**
 * Remembers answers until the node confirms them; only answers under way and refused ones are kept, so a quiet mesh costs
 * nothing.
 *
 * @param onRefusal told once when a node refuses a version
 */
export function createRefusalWatch(now: () => number, onRefusal: (refusal: Refusal) => void): RefusalWatch {
  const watched = new Map<string, Served>();
  const keyOf = ({ nodeId, type, name }: Subscription) => `${type} ${name} ${nodeId}`;
  const toRefusal = ({ version, polls: _polls, ...served }: Served): Refusal => ({ ...served, refused: version });
  return {
    asked(poll, version) {
      const key = keyOf(poll);
      const served = watched.get(key);
      if (served === undefined) return;
      if (version !== served.kept) {
        watched.delete(key);
        return;
      }
      served.polls += 1;
      if (served.polls === pollsThatTell) onRefusal(toRefusal(served));
    },
    served(poll, answer) {
      const key = keyOf(poll);
      const before = watched.get(key);
      if (before?.version === answer.version) return;
      watched.delete(key);
      watched.set(key, { ...poll, ...answer, sinceMs: now(), polls: 0 });
      const [oldest] = watched.keys();
      if (watched.size > maxWatched && oldest !== undefined) watched.delete(oldest);
    },
    current: (poll) => watched.delete(keyOf(poll)),
    standing: () => [...watched.values()].filter(({ polls }) => polls >= pollsThatTell).map(toRefusal),
  };
}
