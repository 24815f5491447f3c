import type { ConfigKey, Diagnostic } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
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
  | { readonly kind: "invalid"; readonly diagnostics: readonly Diagnostic[] };

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

/** `keyText` of the object of a kind, the kind given as `kindText` writes it. */
export const entryKey = (kind: string, name: string, namespace: string): string => `${kind}/${namespace}/${name}`;
