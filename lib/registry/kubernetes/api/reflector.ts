import { sameValue } from "../../same.ts";
import type { KubernetesObject } from "../object.ts";
import { objectKey } from "../object.ts";
import type { ApiClient } from "./client.ts";
import { type ListOptions, listItems } from "./list.ts";
import type { ApiResource } from "./resource.ts";
import { type WatchEvent, watchEvents } from "./watch.ts";

/** The mirror of one collection, as far as it was followed. */
export interface Reflection {
  /** By `namespace/name`, in order of arrival; a changed object keeps its place. */
  readonly items: ReadonlyMap<string, KubernetesObject>;
  /** "" until the first list. */
  readonly version: string;
  readonly synced: boolean;
  /** Why the collection cannot be followed at the moment; "" while it can. */
  readonly failure: string;
}

/** Keeps the objects of a collection up to date. */
export interface Reflector {
  current(): Reflection;
  run(signal: AbortSignal): Promise<void>;
}

/** Seconds between looks at a kind that the server does not have. */
const absentSeconds = 60;

/** The listed objects in place of the known ones; an object that is as before stays the same object. */
function relisted(
  known: ReadonlyMap<string, KubernetesObject>,
  items: readonly KubernetesObject[],
): Map<string, KubernetesObject> {
  const listed = new Map(items.map((item) => [objectKey(item), item]));
  const out = new Map<string, KubernetesObject>();
  const keep = (old: KubernetesObject | undefined, item: KubernetesObject): KubernetesObject =>
    old !== undefined && sameValue(old, item) ? old : item;
  for (const [key, old] of known) {
    const item = listed.get(key);
    if (item !== undefined) out.set(key, keep(old, item));
  }
  for (const [key, item] of listed) if (!out.has(key)) out.set(key, item);
  return out;
}

/**
 * Follows one collection: list, then watch, resumed where it ended; listed anew when the position is too old or an
 * attempt failed, and then compared with what is known, so that a break in the connection changes nothing by itself.
 *
 * @param changed is called after each change of what `current` tells
 */
export function createReflector(
  client: ApiClient,
  resource: ApiResource,
  options: ListOptions,
  changed: () => void,
): Reflector {
  let items: Map<string, KubernetesObject> = new Map();
  let version = "";
  let synced = false;
  let failure = "";
  const apply = (event: WatchEvent): void => {
    if (event.type === "open") {
      if (failure !== "") changed();
      failure = "";
      return;
    }
    if (event.type === "gone") {
      version = "";
      return;
    }
    version = event.version || version;
    if (event.type === "bookmark") return;
    const key = objectKey(event.object);
    if (event.type === "put") items.set(key, event.object);
    else items.delete(key);
    changed();
  };
  const list = async (signal: AbortSignal): Promise<boolean> => {
    const listed = await listItems(client, resource, options, signal);
    items = relisted(items, listed.items);
    version = listed.version;
    synced = true;
    failure = "";
    changed();
    return version !== "";
  };
  return {
    current: () => ({ items, version, synced, failure }),
    async run(signal) {
      let failures = 0;
      while (!signal.aborted) {
        try {
          if (version === "" && !(await list(signal))) {
            await options.pace.pause(absentSeconds * 1000, signal);
            continue;
          }
          let quiet = true;
          for await (const event of watchEvents(client, resource, version, options.source, signal)) {
            quiet &&= event.type === "open";
            if (!quiet) failures = 0;
            apply(event);
          }
          // A server that ends watches at once must not be asked without a break.
          if (quiet) await options.pace.pause(options.pace.backOff(1), signal);
        } catch (cause) {
          if (signal.aborted) return;
          failures += 1;
          failure = cause instanceof Error ? cause.message : String(cause);
          changed();
          await options.pace.pause(options.pace.backOff(failures), signal);
        }
      }
    },
  };
}
