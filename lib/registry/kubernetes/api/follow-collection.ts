import { causeText } from "../../../base/cause-text.ts";
import { PortolanError } from "../../../base/diagnostic.ts";
import type { Lanes } from "../../origin/lanes.ts";
import type { OriginSink, PackedObject } from "../../origin/origin.ts";
import { isAhead } from "./ahead.ts";
import type { ApiClient } from "./client.ts";
import { doubtedMs } from "./discovery.ts";
import type { FailureWaits } from "./failure-waits.ts";
import type { ApiItem } from "./item.ts";
import { createListBound, type ListOptions, listItems, patienceMs } from "./list.ts";
import type { ApiResource } from "./resource.ts";
import { createStall } from "./stall.ts";
import { usualWatchSeconds, watchEvents } from "./watch.ts";

export interface FollowOptions extends ListOptions {
  /** Name of the collection among the parts of its origin. */
  readonly part: string;
  /** Where the server has the collection; undefined where it does not. Asked before each list, for an answer of at most that age. */
  readonly find: (signal: AbortSignal, maxAgeMs?: number) => Promise<ApiResource | undefined>;
  /** Its kind comes with a CRD, which may be deleted, and all objects with it. */
  readonly isOfDefinition: boolean;
  /** Key of an item that is kept, be it gone. */
  readonly keyOf: (item: ApiItem) => string;
  /** Whether the server streams lists, shared by all collections: the first that is refused tells the others. */
  readonly streaming: { isRefused: boolean };
  /** Versions to go on from, by part: read when this begins, and kept up to date for the next time. */
  readonly positions: Map<string, string>;
  /** Seconds after which the server ends a watch by itself; 240 when absent. */
  readonly watchSeconds?: number;
  /** Milliseconds that a list which streams may say nothing; a minute when absent. */
  readonly quietMs?: number;
  /** Where only so many connections may be open at once. */
  readonly lanes?: Lanes;
  /** Of all collections of the server. */
  readonly waits: FailureWaits;
  /** Milliseconds of any clock that goes on. */
  readonly now: () => number;
}

/** Milliseconds between looks at a kind that the server does not have. */
const absentMs = 60_000;

/** The same for one that holds something: it may be missing for seconds only. */
const missedMs = 5_000;

/** Milliseconds for which one look at whether a kind is still served counts for the deletions that follow: hundreds may come at once. */
const confirmedMs = 200;

/** Milliseconds that a connection has to last for the next to follow it without a pause. */
const livedMs = 10_000;

/** Where watches are short, a server that has come as far as a position is not asked again for so long whether it has. */
const provenMs = 60_000;

/** Milliseconds that a list which streams may say nothing. */
const usualQuietMs = 60_000;

/** So often in a row a server may ask for patience before that is a failure. */
const patience = 3;

/** Where a collection stands between two connections. */
type Position =
  /** Nothing is known, or what is known is too old: the collection is read as a whole. */
  { readonly kind: "nowhere" } | { readonly kind: "at"; readonly version: string };

const nowhere: Position = { kind: "nowhere" };

/**
 * Follows one collection until the signal says stop: a list that goes on as a watch, or a list and then a watch where the server
 * streams none. A watch that ends is resumed where it ended; when its position is too old, or a list broke off, the
 * collection is read anew as a whole, and what was told before stays until then.
 */
export async function followCollection(
  client: ApiClient,
  options: FollowOptions,
  sink: OriginSink,
  signal: AbortSignal,
): Promise<void> {
  const { part, pace, now, positions, watchSeconds = usualWatchSeconds } = options;
  const start = positions.get(part);
  let position: Position = start === undefined ? nowhere : { kind: "at", version: start };
  /** The server has just said it. */
  let isNew = false;
  /** It was told what there is, be it nothing. Until then everything waits for this collection, and each watch would hold its lane for seconds. */
  let isTold = start !== undefined;
  let provenUntilMs = Number.NEGATIVE_INFINITY;
  let resource: ApiResource | undefined;
  let failures = 0;
  let busy = 0;
  let busyMs = 0;
  /** Connections in a row that ended soon. */
  let brief = 0;
  /** An answer to another collection has ended the last wait. */
  let isSentOut = false;
  /** The server has no such kind any more: it is looked for again within seconds, since what was held stays. */
  let isMissed = false;
  let sinceMs = 0;
  let confirmedUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether an object is deleted because its kind is. @throws PortolanError when the server does not say */
  const isKindLeaving = async (): Promise<boolean> => {
    if (!options.isOfDefinition || now() < confirmedUntilMs) return false;
    if ((await options.find(signal, 0)) === undefined) return true;
    confirmedUntilMs = now() + confirmedMs;
    return false;
  };
  /** @returns undefined where the server has no such kind */
  const visit = async (): Promise<ConnectionEnd | undefined> => {
    if (position.kind === "nowhere" || resource === undefined)
      resource = await options.find(signal, isMissed || failures > 0 || isTold ? doubtedMs : undefined);
    if (resource === undefined) return undefined;
    if (position.kind === "at" && !isNew && now() > provenUntilMs) {
      if (await isAhead(client, resource, position.version, signal)) position = nowhere;
      else if (options.lanes !== undefined) provenUntilMs = now() + provenMs;
    }
    sinceMs = now();
    return connect(client, resource, position, { ...options, isKindLeaving }, sink, signal);
  };
  while (!signal.aborted) {
    try {
      const end = await (options.lanes?.run(visit, signal, !isTold) ?? visit());
      if (end === undefined || end.isAbsent === true) {
        // A server that comes up may know its kinds later than it answers. What comes back may be another collection.
        position = nowhere;
        isTold = true;
        positions.delete(part);
        const isHeld = sink.absent(part, "no longer served by the API server");
        // Where kinds take turns on few connections, one that is looked for every few seconds takes those of the others.
        isMissed = options.lanes === undefined && (isHeld || end !== undefined);
        failures = 0;
        await pace.pause(isMissed ? missedMs : absentMs, signal);
        continue;
      }
      ({ position } = end);
      if (position.kind === "at") {
        isTold = true;
        positions.set(part, position.version);
      } else positions.delete(part);
      isNew = end.isStep === true;
      if (end.busy !== undefined) {
        busy += 1;
        const waitMs = end.busy.waitMs || pace.backOff(busy);
        busyMs += waitMs;
        if (busy > patience || busyMs > patienceMs) sink.failed(part, end.busy.reason);
        await pace.pause(waitMs, signal);
        continue;
      }
      busy = 0;
      busyMs = 0;
      if (end.failure !== undefined) throw end.failure;
      if (end.isUntaken === true) {
        failures += 1;
        await pace.pause(pace.backOff(failures), signal);
        continue;
      }
      isMissed = false;
      failures = 0;
      if (now() - sinceMs >= Math.min(livedMs, watchSeconds * 900)) brief = 0;
      else if (end.isStep !== true) {
        // Whatever a server says before it ends a connection at once: it must not be asked without a break.
        brief += 1;
        await pace.pause(pace.backOff(brief), signal);
      }
    } catch (cause) {
      if (signal.aborted) return;
      failures += 1;
      isNew = false;
      provenUntilMs = Number.NEGATIVE_INFINITY;
      sink.failed(part, causeText(cause));
      isSentOut = await options.waits.pause(pace.backOff(failures), signal, !isSentOut);
      // The server answers others again: what it still refuses of this one, it may not for long.
      if (isSentOut) failures = 0;
    }
  }
}

interface ConnectionEnd {
  readonly position: Position;
  /** The next connection belongs to it: a watch that goes on from a list, a list instead of a stream. */
  readonly isStep?: boolean;
  /** Why it broke; absent: it ended as connections end. */
  readonly failure?: unknown;
  /** The server has no such kind. */
  readonly isAbsent?: boolean;
  /** There was no room for what it said. */
  readonly isUntaken?: boolean;
  /** The server asks for patience. */
  readonly busy?: { readonly waitMs: number; readonly reason: string };
}

/** What was told is too much, and has failed already: it is read anew when there may be room. */
const untaken: ConnectionEnd = { position: nowhere, isUntaken: true };

/** One connection, or a list where lists are not streamed. @throws PortolanError where a list cannot be had */
async function connect(
  client: ApiClient,
  resource: ApiResource,
  from: Position,
  {
    part,
    keep,
    keyOf,
    streaming,
    isKindLeaving,
    watchSeconds = usualWatchSeconds,
    ...options
  }: FollowOptions & { readonly isKindLeaving: () => Promise<boolean> },
  sink: OriginSink,
  signal: AbortSignal,
): Promise<ConnectionEnd> {
  if (from.kind === "nowhere" && streaming.isRefused) {
    const { items, version } = await listItems(
      client,
      resource,
      { keep, ...options, waiting: (reason) => sink.failed(part, reason) },
      signal,
    );
    if (!sink.whole(part, items)) return untaken;
    return version === "" ? { position: nowhere } : { position: { kind: "at", version }, isStep: true };
  }
  let position = from;
  /** What a streamed list has brought so far; undefined when it is complete. */
  let initial = from.kind === "nowhere" ? new Map<string, PackedObject>() : undefined;
  const count = createListBound(resource, { keep, ...options });
  const watch = { version: from.kind === "at" ? from.version : "", seconds: watchSeconds };
  const stall = createStall(options.quietMs ?? usualQuietMs, signal);
  if (initial === undefined) stall.end();
  try {
    for await (const event of watchEvents(client, resource, watch, stall.signal)) {
      if (initial !== undefined) stall.heard();
      switch (event.type) {
        case "open":
          if (initial === undefined) sink.followed(part);
          break;
        case "unsupported":
          streaming.isRefused = true;
          return { position: nowhere, isStep: true };
        case "absent":
          return { position: nowhere, isAbsent: true };
        case "gone":
          return { position: nowhere };
        case "busy":
          return { position, busy: event };
        case "bookmark":
          if (initial !== undefined && event.isInitialEnd) {
            if (!sink.whole(part, [...initial.values()])) return untaken;
            initial = undefined;
            stall.end();
          }
          if (initial === undefined && event.version !== "") position = { kind: "at", version: event.version };
          break;
        case "put":
        case "delete": {
          const key = keyOf(event.object);
          const object = event.type === "put" ? keep(event.object) : undefined;
          if (initial === undefined) {
            // Objects of a CRD that is deleted go one by one before it does; among them may be the policies that protect.
            if (event.type === "delete" && (await isKindLeaving())) return { position: nowhere, isAbsent: true };
            if (!sink.changed(part, [{ key, object }])) return untaken;
            if (event.version !== "") position = { kind: "at", version: event.version };
          } else if (object === undefined) initial.delete(key);
          else {
            count(object);
            initial.set(key, object);
          }
          break;
        }
      }
    }
  } catch (cause) {
    return { position, failure: cause };
  } finally {
    stall.end();
  }
  if (initial === undefined || signal.aborted) return { position };
  const why = stall.signal.aborted ? "has stopped in the middle" : "ended before its end";
  return { position, failure: new PortolanError(`the list of ${resource.path} ${why}`) };
}
