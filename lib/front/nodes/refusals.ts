import type { Limits } from "../../limits/limits.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { type RequestingNode, requestingNodeKey } from "./requesting-node.ts";

/** A node that goes on asking with the version it had before it was served another, or says on a stream that it does not take it. */
export interface Refusal extends RequestingNode {
  /** Secrets on streams only: a poll's are fetched one by one, and compared with nothing. */
  readonly type: ResourceType | "secrets";
  /** Name of the resource; "" for a type that comes whole, and on streams. */
  readonly name: string;
  readonly refused: string;
  /** Version that it keeps; undefined when it never had one. */
  readonly kept: string | undefined;
  readonly sinceMs: number;
  readonly classId: string;
  /** Root that the refused answer came from. */
  readonly root: string;
  /** On a stream: the node's own words, cut off where they are very many. */
  readonly error?: string;
}

/** REST has no NACK. Polls tell all the same, by the version they keep. */
export interface RefusalWatch {
  /** To be told of every poll before it is answered. */
  asked(poll: Subscription, version: string | undefined): void;
  /** To be told of every answer with content. */
  served(poll: Subscription, answer: ServedAnswer): void;
  /** To be told when what a node keeps is current again: there is nothing to refuse any more. */
  current(poll: Subscription): void;
  /** Refusals that stand now, of nodes that still ask, the latest first. */
  active(): readonly Refusal[];
}

export interface Subscription extends RequestingNode {
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
  readonly bytes: number;
  seenMs: number;
  polls: number;
}

/** A poll may cross an answer, so one poll with the old version says nothing yet. */
const pollsThatTell = 2;

/**
 * Remembers answers until the node confirms them; only answers under way and refused ones are kept, so a quiet mesh costs
 * nothing. Whoever asked longest ago is forgotten first.
 *
 * @param onRefusal told once when a node refuses a version
 */
export function createRefusalWatch(
  now: () => number,
  onRefusal: (refusal: Refusal) => void,
  { refusalBytes, refusalMs }: Pick<Limits, "refusalBytes" | "refusalMs">,
): RefusalWatch {
  /** The one that asked longest ago first. */
  const watched = new Map<string, Served>();
  let bytes = 0;
  const keyOf = (poll: Subscription) => `${poll.type} ${poll.name} ${requestingNodeKey(poll)}`;

  function forget(key: string): void {
    bytes -= watched.get(key)?.bytes ?? 0;
    watched.delete(key);
  }

  function forgetTheGone(): void {
    const goneMs = now() - refusalMs;
    for (const [key, { seenMs }] of watched) {
      if (seenMs >= goneMs && bytes <= refusalBytes) return;
      forget(key);
    }
  }

  return {
    asked(poll, version) {
      if (watched.size === 0) return;
      const key = keyOf(poll);
      const served = watched.get(key);
      if (served === undefined) return;
      if (version !== served.kept) {
        forget(key);
        return;
      }
      served.seenMs = now();
      watched.delete(key);
      watched.set(key, served);
      served.polls += 1;
      if (served.polls === pollsThatTell) onRefusal(toRefusal(served));
    },
    served(poll, answer) {
      const key = keyOf(poll);
      if (watched.get(key)?.version === answer.version) return;
      forget(key);
      const nowMs = now();
      const cost = costOf(poll, answer);
      watched.set(key, { ...poll, ...answer, sinceMs: nowMs, seenMs: nowMs, bytes: cost, polls: 0 });
      bytes += cost;
      forgetTheGone();
    },
    current(poll) {
      if (watched.size > 0) forget(keyOf(poll));
    },
    active() {
      forgetTheGone();
      return [...watched.values()]
        .filter(({ polls }) => polls >= pollsThatTell)
        .map(toRefusal)
        .reverse();
    },
  };
}

function toRefusal({ nodeId, clusterId, type, name, version, kept, sinceMs, classId, root }: Served): Refusal {
  const requestingNode = { nodeId, ...(clusterId === undefined ? {} : { clusterId }) };
  return { ...requestingNode, type, name, refused: version, kept, sinceMs, classId, root };
}

/** Texts take up to two bytes a character, and the node's are in the key once more. */
function costOf(poll: Subscription, { kept = "" }: ServedAnswer): number {
  return 600 + 4 * (requestingNodeKey(poll).length + poll.name.length) + 2 * kept.length;
}
