import type { Classifier, NodeClaims } from "../../base/classifier.ts";
import { forwardClock } from "../../base/forward-clock.ts";
import {
  countByNamespace,
  maxWanted,
  maxWritten,
  missedBlobKey,
  ownerOf,
  ownerPrefix,
  unproven,
  type WantedOwner,
  wantedOwner,
  wantedPrefix,
  wantedRecord,
} from "../../snapshot/nodes/wanted.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type Caller, identityOf } from "../auth/caller.ts";

/** Asks the compiler for classes of nodes that have none. */
export interface WantedClasses {
  /** @returns whether the class is on its way: asked for a while ago at most, by this node or one like it */
  want(classifier: Classifier, claims: NodeClaims, caller: Caller): Promise<boolean>;
}

export interface WantedOptions {
  readonly store: ObjectStore;
  readonly now: () => number;
  /** Has the sources compiled: a record is new in one of them. */
  readonly trigger: () => unknown;
  readonly onError: (cause: unknown) => void;
  /** How long to wait for the compiler before a node is answered without a class of its own. */
  readonly patienceMs?: number;
}

/** What became of a record; `none`: there is no room for it. */
type Written = Awaited<ReturnType<ObjectStore["put"]>>["kind"] | "none";

/** Records of one subject that has proven itself, and of all that have not. */
const maxOfSubject = 8;
const maxUnproven = 32;

const usualPatienceMs = 30_000;

/** Records are few, and those who ask for more are told nothing new; so much is remembered of whom they were written for. */
const maxAsked = 2 * maxWanted;

/**
 * Writes a record once, and never over another: what is there is somebody's. Whoever proves nothing can have a few records written and as
 * many compiles made in a day, all strangers together; nobody else notices. Where all places are taken, a namespace with fewer than its share
 * of them still writes, and the next compile drops records of those that have more.
 */
export function createWantedClasses(options: WantedOptions): WantedClasses {
  const { store, now, trigger, onError, patienceMs = usualPatienceMs } = options;
  const agedMs = forwardClock(now);
  /** By key, when it was first asked for here; and by subjects whose records had no room, when they had none. */
  const asked = new Map<string, number>();
  /** Whoever has no room is not counted again for a while: a listing for each name made up would have everybody else wait in line. */
  const isFull = (subject: string) => agedMs() - (asked.get(subject) ?? -patienceMs) < patienceMs;
  /** One listing at a time: what it counts is what the next may add to. */
  let last: Promise<unknown> = Promise.resolve();

  async function hasRoom({ namespace, subject }: WantedOwner): Promise<boolean> {
    const keys: string[] = [];
    for await (const { key } of store.list(wantedPrefix)) {
      if (key !== missedBlobKey && keys.push(key) >= maxWritten) return false;
    }
    const own = keys.filter((key) => ownerOf(key).subject === subject).length;
    if (own >= (subject === unproven ? maxUnproven : maxOfSubject)) return false;
    if (keys.length < maxWanted) return true;
    const counts = countByNamespace(keys);
    const ofNamespace = counts.get(namespace) ?? 0;
    const namespaces = counts.size + (ofNamespace === 0 ? 1 : 0);
    return subject !== unproven && (ofNamespace + 1) * namespaces <= maxWanted;
  }

  async function write(key: string, owner: WantedOwner, bytes: Uint8Array<ArrayBuffer>): Promise<Written> {
    if (isFull(owner.subject)) return "none";
    if (!(await hasRoom(owner))) {
      asked.set(owner.subject, agedMs());
      return "none";
    }
    return (await store.put(key, bytes, { ifNoneMatch: "*" })).kind;
  }

  return {
    async want(classifier, claims, caller) {
      if (caller.kind !== "node" && caller.kind !== "anyone") return false;
      const record = wantedRecord(classifier, claims);
      if (record === undefined) return false;
      const owner = wantedOwner(record.namespace, caller.kind === "node" ? identityOf(caller) : undefined);
      const key = ownerPrefix(owner) + record.name.slice(0, 32);
      const sinceMs = asked.get(key);
      if (sinceMs !== undefined) return agedMs() - sinceMs < patienceMs;
      if (isFull(owner.subject)) return false;
      if (asked.size >= maxAsked) asked.clear();
      asked.set(key, agedMs());
      const written = last.then(() => write(key, owner, record.bytes));
      last = written.catch(() => {});
      // Whoever comes next does not wait for it. A record that nobody was told of is found by whoever compiles next.
      const told = written.then(async (record) => {
        if (record === "stored") await trigger();
        return record !== "none";
      });
      const isWritten = await told.catch((cause: unknown) => {
        onError(cause);
        return false;
      });
      // Nothing will come of it, for as long as others fill the room.
      if (!isWritten) asked.set(key, agedMs() - patienceMs);
      return isWritten;
    },
  };
}
