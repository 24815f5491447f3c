import type { Semaphore } from "../../limits/semaphore.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { createLoadCache } from "../../snapshot/worlds/load-cache.ts";
import type { Selection } from "../../streams/select-resources.ts";
import { wholeOf } from "../requests/answer.ts";
import { type ChunkedBody, discoveryBody } from "./discovery-body.ts";

/** Answers that many are sent: one piece of memory for all who get the same. */
export interface SharedAnswers {
  /** The answer in one piece if it is at hand, and there is room for a reader of it. */
  atHand(type: ResourceType, selection: Selection): ChunkedBody | undefined;
  /** The answer in one piece if there is room for it, else as the pieces it is stored in. */
  bodyOf(type: ResourceType, selection: Selection): Promise<ChunkedBody>;
}

/** An answer, and where it comes from: its version covers all that is in it. */
interface Asked {
  readonly type: ResourceType;
  readonly selection: Selection;
}

/** @param underWay room for answers that have readers; each answer takes it once, however many there are */
export function createSharedAnswers(reader: SnapshotReader, maxBytes: number, underWay: Semaphore): SharedAnswers {
  const answers = createLoadCache<Asked, Uint8Array<ArrayBuffer>>({
    nameOf: ({ type, selection }) => `${type} ${selection.version}`,
    maxBytes,
    load: async ({ type, selection }) => wholeOf(await discoveryBody(reader, type, selection)),
    sizeOf: ({ length }) => length,
  });
  const lent = new Map<Uint8Array, { readers: number; readonly leave: () => void }>();

  /** @returns to be called once its reader has it; undefined when there is no room */
  function lend(whole: Uint8Array): (() => void) | undefined {
    const before = lent.get(whole);
    const leave = before === undefined ? underWay.tryEnter(whole.length) : before.leave;
    if (leave === undefined) return undefined;
    const entry = before ?? { readers: 0, leave };
    entry.readers += 1;
    if (before === undefined) lent.set(whole, entry);
    return () => {
      entry.readers -= 1;
      if (entry.readers > 0) return;
      lent.delete(whole);
      leave();
    };
  }

  function lentBody(whole: Uint8Array<ArrayBuffer>): ChunkedBody | undefined {
    const sent = lend(whole);
    if (sent === undefined) return undefined;
    return {
      bytes: whole.length,
      whole,
      isShared: true,
      sent,
      async *chunks() {
        yield whole;
      },
    };
  }

  return {
    atHand(type, selection) {
      const whole = answers.loaded({ type, selection });
      return whole === undefined ? undefined : lentBody(whole);
    },
    async bodyOf(type, selection) {
      if (sizeOf(selection) > maxBytes / 4) return discoveryBody(reader, type, selection);
      const whole = await answers.get({ type, selection });
      return lentBody(whole) ?? discoveryBody(reader, type, selection);
    },
  };
}

/** At most so much: of a segment that is not sent whole, a part. */
const sizeOf = ({ parts }: Selection): number => parts.reduce((sum, { segment }) => sum + segment.bodyBytes, 0);
