import type { Config } from "../config/config.ts";
import type { ConfigKey, Diagnostic } from "../config/diagnostic.ts";
import type { KindSchema } from "../config/kind-schema.ts";
import type { Commit, Ledger } from "./ledger/ledger.ts";

/** What came of a write. Only a broken store is an error; everything that a caller can act on is a result. */
export type WriteResult =
  | {
      readonly kind: "written";
      /** Revision of the object from now on; only equality means something. */
      readonly resourceVersion: string;
      /** Counts the writes of the store, for people. */
      readonly revision: number;
    }
  | { readonly kind: "exists"; readonly current: Config }
  | { readonly kind: "missing" }
  /** Somebody else wrote since: what lies there now, and who put it there, where the store knows. */
  | { readonly kind: "conflict"; readonly current: Config | undefined; readonly winner: Commit | undefined }
  | { readonly kind: "invalid"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: "read-only"; readonly reason: string };

/**
 * Configuration by key: kind, namespace, name. Kinds are named as `kindText` writes them. Writes of single objects are atomic; there are no transactions over several.
 * An object's revision is opaque: a write that brings one is blocked unless it is the stored one, and a write without one
 * replaces whatever is there. Objects that are handed out are shared, and read-only as all data is.
 * @see docs/how-istio-does-it/config-stores.md#what-a-store-promises
 */
export interface ConfigStore {
  /** The kinds that the store can hold; others are unknown to it. */
  readonly schemas: readonly KindSchema[];
  get(kind: string, name: string, namespace: string): Promise<Config | undefined>;
  /** By namespace, then name; every namespace when none is given. */
  list(kind: string, namespace?: string): Promise<readonly Config[]>;
  /** Fails on a key that exists. */
  create(config: Config): Promise<WriteResult>;
  /** Fails on a key that does not exist, and on a revision that is not the stored one. */
  update(config: Config): Promise<WriteResult>;
  delete(kind: string, name: string, namespace: string, resourceVersion?: string): Promise<WriteResult>;
  /** Names the whole content: equal contents, equal version. */
  version(): Promise<string>;
  /** The object as it was in an earlier version; undefined where there was none, or the version is forgotten. */
  getResourceAtVersion(version: string, key: ConfigKey): Promise<Config | undefined>;
  /** The history behind the store, where it keeps one. */
  readonly ledger: Ledger | undefined;
}

export type ConfigEvent =
  | { readonly kind: "add"; readonly current: Config }
  | { readonly kind: "update"; readonly old: Config; readonly current: Config }
  /** The object that is gone. */
  | { readonly kind: "delete"; readonly current: Config };

export type ConfigHandler = (event: ConfigEvent) => void | Promise<void>;

/**
 * A store whose content is at hand, and which tells of changes.
 * @see docs/how-istio-does-it/config-stores.md#caches-and-events
 */
export interface ConfigStoreCache extends ConfigStore {
  /**
   * Handlers run one after another, in the order of registration; the store is then at least as new as the event.
   * @throws PortolanError after `run`
   */
  registerEventHandler(kind: string, handler: ConfigHandler): void;
  /** Fills the store and follows its origin until the signal. */
  run(stop: AbortSignal): Promise<void>;
  /** True when the first content is there and all handlers have been told of it. */
  hasSynced(): boolean;
}

/** Kinds are read-only for a reason. */
export function readOnly(reason: string): Promise<WriteResult> {
  return Promise.resolve({ kind: "read-only", reason });
}

/** `keyText` of the object of a kind, the kind given as `kindText` writes it. */
export const entryKey = (kind: string, name: string, namespace: string): string => `${kind}/${namespace}/${name}`;
