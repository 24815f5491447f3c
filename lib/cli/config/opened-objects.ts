import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import { type NewestStatuses, readNewestStatuses, statusesToWrite } from "../../compile/statuses/newest-statuses.ts";
import { type CompileObserver, noObserver } from "../../compile/telemetry/observer.ts";
import { objectSigner } from "../../compile/webhook/object-signature.ts";
import { httpStore } from "../../storage/http.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { actorName } from "../actor.ts";
import { namedStore, openThere, openToWrite } from "../named-store.ts";
import { audienceOf, getSigned, postSigned, webhookSecret } from "../post-signed.ts";
import { trustOf } from "../secrets/keyring.ts";

/** A store, in reach or behind a compile function, and who compiles it. */
export interface OpenedObjects {
  readonly objects: ObjectStore;
  readonly isRemote: boolean;
  /** Compiles what the sources hold. */
  compile(): Promise<Recompiled>;
  /**
   * What the newest compile says of a source's objects, or of those of all sources.
   *
   * @param knownRoot hash of a root whose statuses need not be read again
   */
  statuses(source: string, knownRoot: string | undefined): Promise<NewestStatuses | undefined>;
}

export interface OpenOptions {
  readonly store?: string | undefined;
  /** File with the keys that sign what is published; absent where nothing is. */
  readonly keyring?: string;
  /** Whether a store that is not there yet is made by what is written. */
  readonly isNew?: boolean;
  /** Is told of compiles that are made here. */
  readonly observer?: CompileObserver;
  /** Is given why the messages of the analysers were not recorded; absent where nothing is compiled. */
  readonly warn?: (line: string) => void;
}

/** @throws PortolanError when the store is not there, and for an endpoint without its secret */
export async function openObjects({
  store: option,
  keyring,
  isNew = false,
  observer = noObserver,
  warn = () => {},
}: OpenOptions): Promise<OpenedObjects> {
  const place = await namedStore(option);
  if (place !== undefined && /^https?:\/\//.test(place)) return openEndpoint(place.replace(/\/$/, ""), webhookSecret());
  const store = isNew ? await openToWrite(option) : await openThere(option);
  let recompile: (() => Promise<Recompiled>) | undefined;
  return {
    objects: store,
    isRemote: false,
    async compile() {
      if (recompile === undefined) {
        // Whoever compiles nothing does without the memory that a compiler takes.
        const { createRecordingRecompiler } = await import("../recording-recompiler.ts");
        const publisher = keyring === undefined ? {} : await trustOf(keyring);
        const publish = await createRecordingRecompiler({ store, publisher, observer }, warn);
        recompile = () => publish({ by: actorName() });
      }
      return recompile();
    },
    statuses: (source, knownRoot) => statusesToWrite(store, source, knownRoot),
  };
}

function openEndpoint(url: string, secret: string): OpenedObjects {
  return {
    objects: httpStore({ url: `${url}/objects`, authorize: objectSigner(secret, audienceOf(url)) }),
    isRemote: true,
    compile: async () => JSON.parse(await postSigned(url, "/hooks/recompile", "", secret)),
    async statuses(source, knownRoot) {
      const query = knownRoot === undefined ? "" : `?known=${encodeURIComponent(knownRoot)}`;
      const path = `/sources/${encodeURIComponent(source)}/statuses${query}`;
      return readNewestStatuses(JSON.parse(await getSigned(url, path, secret)));
    },
  };
}
