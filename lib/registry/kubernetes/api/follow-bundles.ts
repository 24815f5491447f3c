import { causeText } from "../../../base/cause-text.ts";
import { keyText } from "../../../base/diagnostic.ts";
import type { Lanes } from "../../origin/lanes.ts";
import type { OriginSink, PackedObject } from "../../origin/origin.ts";
import { splitEntry } from "../../origin/packed-object.ts";
import { type Bell, createBell, type Pace } from "../../origin/retry.ts";
import { type BundleName, bundleNamesIn, namingKinds } from "./bundle-names.ts";
import { type ApiClient, apiError, jsonOf, send } from "./client.ts";
import type { FindResource } from "./discovery.ts";
import { type ApiItem, readItem } from "./item.ts";
import { bundleKinds, meshSettings, type ReadKind } from "./read-kinds.ts";
import { objectPath } from "./resource.ts";

/** The part of an origin that has the objects with trusted certificates which other objects name. */
export const namedBundlesPart = "named ConfigMap";

/** Milliseconds between two readings of an object that is named. */
const everyMs = 15_000;

/** Milliseconds that one reading may take. */
const requestMs = 10_000;

/** The objects with trusted certificates that other objects name. */
export interface NamedBundles {
  /** Hears which objects are there, on their way to the sink. */
  listen(sink: OriginSink): OriginSink;
  /** Reads those that are named, and those alone, one after the other, until the signal says stop. */
  follow(sink: OriginSink, find: FindResource, signal: AbortSignal): Promise<void>;
  /** Those that could not be read since it is not allowed, for people. */
  refused(): readonly string[];
}

export interface NamedBundlesOptions {
  readonly keep: (read: ReadKind, item: ApiItem) => PackedObject;
  /** Whether objects of a namespace are read. */
  readonly reads: (namespace: string) => boolean;
  readonly pace: Pace;
  /** Where only so many connections may be open at once. */
  readonly lanes?: Lanes | undefined;
}

/** What one reading of an object came to. */
type Reading = { readonly kind: "found"; readonly object: PackedObject } | { readonly kind: "gone" | "refused" };

/**
 * Reads each object by its own name, so that no right to list is needed: whoever may list ConfigMaps may read all of them. What may not be
 * read counts as not there, unless it could be read before.
 */
export function namedBundles(client: ApiClient, options: NamedBundlesOptions): NamedBundles {
  const { keep, reads, pace, lanes } = options;
  /** Key of an object that names some → the names. */
  const naming = new Map<string, readonly BundleName[]>();
  /** Key of an object that is named → as it was read last. */
  let held = new Map<string, PackedObject>();
  let refused: readonly string[] = [];
  /** Until then the whole origin waits for this part. */
  let isTold = false;
  const bell: Bell = createBell();

  function learn(key: string, json: string | undefined): void {
    const names = json === undefined ? [] : bundleNamesIn(json);
    if (names.length > 0) naming.set(key, names);
    else naming.delete(key);
  }
  const wantedNow = (): ReadonlyMap<string, BundleName> => {
    const names = [...naming.values()].flat().filter((one) => !isMeshSettings(one) && isRead(one));
    return new Map(names.map((one) => [keyOf(one), one] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  const isRead = ({ kind, namespace }: BundleName): boolean => kind !== "ConfigMap" || reads(namespace);

  async function readOne(
    { kind, namespace, name }: BundleName,
    find: FindResource,
    signal: AbortSignal,
  ): Promise<Reading> {
    const read = bundleKinds[kind];
    const until = AbortSignal.any([signal, AbortSignal.timeout(requestMs)]);
    const place = await find(read, until);
    if (place === undefined) return { kind: "gone" };
    const path = objectPath(place, read, namespace, name);
    const answer = await send(client, path, { signal: until });
    if ("response" in answer) {
      const item = readItem(await jsonOf(path, answer.response), { ...place, path });
      return { kind: "found", object: keep(read, item) };
    }
    if (answer.failure.status === 404) return { kind: "gone" };
    if (answer.failure.status === 403) return { kind: "refused" };
    throw apiError(path, answer.failure);
  }

  /** @returns whether all could be read */
  async function pass(sink: OriginSink, find: FindResource, signal: AbortSignal): Promise<boolean> {
    const next = new Map<string, PackedObject>();
    const closed: string[] = [];
    let failure = "";
    for (const [key, name] of wantedNow()) {
      const before = held.get(key);
      const work = () => readOne(name, find, signal);
      const reading = await (lanes?.run(work, signal, !isTold) ?? work()).catch(
        (cause: unknown) => ({ kind: "failed", reason: causeText(cause) }) as const,
      );
      if (signal.aborted) return false;
      if (reading.kind === "found") next.set(key, reading.object);
      else if (before !== undefined && reading.kind !== "gone") next.set(key, before);
      if (reading.kind === "refused") closed.push(key);
      const isKept = reading.kind === "refused" && before !== undefined;
      if (isKept) failure ||= `${key} may not be read any more; it is served as it was read last`;
      if (reading.kind !== "failed") continue;
      failure ||= reading.reason;
      // Nothing is told as a whole that was not read.
      if (before === undefined) {
        sink.failed(namedBundlesPart, reading.reason);
        return false;
      }
    }
    held = next;
    refused = closed;
    isTold = sink.whole(namedBundlesPart, [...next.values()]);
    if (!isTold) return false;
    if (failure !== "") sink.failed(namedBundlesPart, failure);
    return failure === "";
  }

  return {
    refused: () => refused.map((key) => `${key} (not allowed)`),
    listen: (sink) => ({
      ...sink,
      whole(part, objects) {
        if (namingKinds.includes(part)) {
          for (const key of [...naming.keys()]) if (key.startsWith(`${part}/`)) naming.delete(key);
          for (const object of objects) learn(object.key, jsonOfObject(object));
          bell.ring();
        }
        return sink.whole(part, objects);
      },
      changed(part, changes) {
        if (namingKinds.includes(part)) {
          for (const { key, object } of changes) learn(key, object && jsonOfObject(object));
          bell.ring();
        }
        return sink.changed(part, changes);
      },
    }),
    async follow(sink, find, signal) {
      signal.addEventListener("abort", bell.ring);
      let failures = 0;
      while (!signal.aborted) {
        failures = (await pass(sink, find, signal)) ? 0 : failures + 1;
        const waiting = new AbortController();
        const pause = failures > 0 ? pace.backOff(failures) : everyMs;
        // Where nothing is named there is nothing to read again.
        if (naming.size > 0)
          void pace.pause(pause, AbortSignal.any([signal, waiting.signal])).then(() => {
            if (!waiting.signal.aborted) bell.ring();
          });
        await bell.next();
        waiting.abort();
      }
    },
  };
}

const keyOf = ({ kind, namespace, name }: BundleName): string =>
  keyText({ group: bundleKinds[kind].group, kind, namespace, name });

/** That one is a part of its own. */
const isMeshSettings = ({ kind, namespace, name }: BundleName): boolean =>
  kind === meshSettings.kind && namespace === meshSettings.only?.namespace && name === meshSettings.only.name;

const jsonOfObject = (object: Parameters<OriginSink["whole"]>[1][number]): string =>
  "entry" in object ? splitEntry(object.entry).json : JSON.stringify(object.object);
