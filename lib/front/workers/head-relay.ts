import { headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { FoundObject, ObjectStore } from "../../storage/object-store.ts";
import type { HeadReply } from "./messages.ts";

/** HEAD, read by one process for all of a front: as often as one front by itself would, however many there are. */
export interface HeadRelay {
  /** HEAD as it was read less than `everyMs` ago. @throws never: a store that fails is a reply */
  read(ifNoneMatch: string | undefined): Promise<HeadReply>;
  close(): void;
}

export interface HeadRelayOptions {
  /** How old HEAD may be; where the store does not call by itself, how often it is looked at. */
  readonly everyMs: number;
  readonly now: () => number;
  /** HEAD may be another one than was read before. */
  readonly onChange: () => void;
}

/** A front that was asked nothing for so long looks at nothing. */
const quietMs = 60_000;

/** How long to wait for a read before another one is begun. */
const patienceMs = 3_000;

interface Reading {
  readonly reply: Promise<HeadReply>;
  readonly startMs: number;
  isDone: boolean;
}

export function createHeadRelay(store: ObjectStore, { everyMs, now, onChange }: HeadRelayOptions): HeadRelay {
  let found: FoundObject | undefined;
  let reading: Reading | undefined;
  let askedMs = Number.NEGATIVE_INFINITY;

  async function look(): Promise<HeadReply> {
    try {
      const result = await store.get(headKey, found === undefined ? {} : { ifNoneMatch: found.etag });
      if (result.kind === "absent") found = undefined;
      if (result.kind === "found") {
        const isNews = found !== undefined && found.etag !== result.etag;
        found = result;
        if (isNews) onChange();
      }
      if (found === undefined) return { kind: "absent" };
      const { bytes, etag, modifiedMs } = found;
      return { kind: "found", text: new TextDecoder().decode(bytes), etag, modifiedMs };
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      return { kind: "failed", reason: cause.message };
    }
  }

  function start(): Reading {
    const started: Reading = { reply: look(), startMs: now(), isDone: false };
    reading = started;
    const done = () => {
      started.isDone = true;
    };
    started.reply.then(done, done);
    return started;
  }

  /** The read that will do, or another one. */
  function fresh(): Reading {
    if (reading === undefined) return start();
    const ageMs = now() - reading.startMs;
    return ageMs >= (reading.isDone ? everyMs : patienceMs) ? start() : reading;
  }

  const stopWatching = store.watch?.(headKey, () => {
    reading = undefined;
    onChange();
  });
  const timer = stopWatching === undefined ? setInterval(lookWhileAsked, everyMs) : undefined;
  timer?.unref();

  function lookWhileAsked(): void {
    if (now() - askedMs < quietMs) fresh();
  }

  return {
    async read(ifNoneMatch) {
      askedMs = now();
      const reply = await fresh().reply;
      return reply.kind === "found" && reply.etag === ifNoneMatch ? { kind: "unchanged" } : reply;
    },
    close() {
      stopWatching?.();
      clearInterval(timer);
    },
  };
}
