import { PortolanError } from "../../../config/diagnostic.ts";
import type { OriginSink, PackedObject } from "../../origin.ts";
import { isAhead } from "./ahead.ts";
import type { ApiClient } from "./client.ts";
import type { ApiItem } from "./item.ts";
import { createListBound, type ListOptions, listItems, patienceMs } from "./list.ts";
import type { ApiResource } from "./resource.ts";
import { watchEvents } from "./watch.ts";

export interface FollowOptions extends ListOptions {
  /** Name of the collection among the parts of its origin. */
  readonly part: string;
  /** Where the server has the collection; undefined where it does not. Asked before each list. */
  readonly find: (signal: AbortSignal) => Promise<ApiResource | undefined>;
  /** Key of an item that is kept, be it gone. */
  readonly keyOf: (item: ApiItem) => string;
  /** Whether the server streams lists, shared by all collections: the first that is refused tells the others. */
  readonly streaming: { isRefused: boolean };
  /** Milliseconds of any clock that goes on. */
  readonly now: () => number;
}

/** Milliseconds between looks at a kind that the server does not have. */
const absentMs = 60_000;

/** Milliseconds that a connection has to last for the next to follow it without a pause. */
const livedMs = 10_000;

/** So often in a row a server may ask for patience before that is a failure. */
const patience = 3;

/** So often in a row a kind that was there has to be missing before what it held is gone. */
const certain = 4;

/** Where a collection stands between two connections. */
type Position =
  /** Nothing is known, or what is known is too old: the collection is read as a whole. */
  | { readonly kind: "nowhere" }
  | {
      readonly kind: "at";
      readonly version: string;
      /** The server has just said it, in a list. */
      readonly isNew?: true;
    };

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
  const { part, pace, now } = options;
  let position = nowhere;
  let resource: ApiResource | undefined;
  let failures = 0;
  let busy = 0;
  let busyMs = 0;
  /** Connections in a row that ended soon. */
  let brief = 0;
  let wasThere = false;
  let absences = 0;
  while (!signal.aborted) {
    try {
      if (position.kind === "nowhere") resource = await options.find(signal);
      if (resource === undefined) {
        // A server that comes up may know its kinds later than it answers.
        absences += 1;
        if (wasThere && absences < certain) throw new PortolanError("the server has no such kind any more");
        sink.whole(part, []);
        wasThere = false;
        failures = 0;
        await pace.pause(absentMs, signal);
        continue;
      }
      const sinceMs = now();
      const end = await connect(client, resource, position, options, sink, signal);
      ({ position } = end);
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
      if (end.isAbsent !== true) {
        absences = 0;
        wasThere = true;
      }
      failures = 0;
      if (now() - sinceMs >= livedMs) brief = 0;
      else if (end.isStep !== true) {
        // Whatever a server says before it ends a connection at once: it must not be asked without a break.
        brief += 1;
        await pace.pause(pace.backOff(brief), signal);
      }
    } catch (cause) {
      if (signal.aborted) return;
      failures += 1;
      sink.failed(part, cause instanceof Error ? cause.message : String(cause));
      await pace.pause(pace.backOff(failures), signal);
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
  { part, keep, keyOf, streaming, ...options }: FollowOptions,
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
    return version === "" ? { position: nowhere } : { position: { kind: "at", version, isNew: true }, isStep: true };
  }
  if (from.kind === "at" && from.isNew !== true && (await isAhead(client, resource, from.version, signal)))
    return { position: nowhere, isStep: true };
  let position: Position = from.kind === "at" ? { kind: "at", version: from.version } : from;
  /** What a streamed list has brought so far; undefined when it is complete. */
  let initial = from.kind === "nowhere" ? new Map<string, PackedObject>() : undefined;
  const count = createListBound(resource, { keep, ...options });
  try {
    for await (const event of watchEvents(client, resource, from.kind === "at" ? from.version : "", signal)) {
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
          }
          if (initial === undefined && event.version !== "") position = { kind: "at", version: event.version };
          break;
        case "put":
        case "delete": {
          const key = keyOf(event.object);
          const object = event.type === "put" ? keep(event.object) : undefined;
          if (initial === undefined) {
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
  }
  if (initial === undefined || signal.aborted) return { position };
  return { position, failure: new PortolanError(`the list of ${resource.path} ended before its end`) };
}
