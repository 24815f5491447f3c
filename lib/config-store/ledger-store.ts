import { sha256 } from "../config/canonical-json.ts";
import type { Config } from "../config/config.ts";
import { keyOf } from "../config/config.ts";
import { byCodePoint, type ConfigKey, keyText } from "../config/diagnostic.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import { fromStoredText, storedText } from "../config/object-json.ts";
import { type ConfigStore, entryKey, type WriteResult } from "./config-store.ts";
import type { CommitInfo, LedgerChange, LedgerResult } from "./ledger/ledger.ts";
import { openLedger } from "./ledger/ledger.ts";
import type { LedgerStore } from "./ledger/ledger-port.ts";
import { validateConfig } from "./validate-config.ts";

export interface LedgerStoreOptions {
  /** Where the ledger lies in the object store, without a final slash. */
  readonly prefix: string;
  /** Who writes, for the history. */
  readonly author: string;
  /** Milliseconds since the epoch, for the history. */
  readonly now: () => number;
  /** Domain of the objects that are read; `cluster.local` when absent. */
  readonly domain?: string;
}

/** A write of several objects at once: all of them or none. */
export type BatchResult =
  | { readonly kind: "written"; readonly revision: number; readonly resourceVersions: ReadonlyMap<string, string> }
  | { readonly kind: "refused"; readonly key: string; readonly result: WriteResult };

export type BatchChange =
  | {
      readonly kind: "put";
      readonly config: Config /** `absent`: create; `present`: replace; absent: either. */;
      readonly if?: "absent" | "present";
    }
  | { readonly kind: "delete"; readonly key: ConfigKey };

export interface LedgerConfigStore extends ConfigStore {
  readonly ledger: NonNullable<ConfigStore["ledger"]>;
  /** Writes several objects in one commit. */
  writeAll(changes: readonly BatchChange[], message: string): Promise<BatchResult>;
  /** The content of any past version. */
  listAtVersion(version: string): Promise<readonly Config[]>;
}

/**
 * Configuration in object storage, with history. An object's revision is the hash of its text, so equal objects have equal
 * revisions; the version of the store is the root of the ledger's tree.
 */
export function createLedgerStore(store: LedgerStore, options: LedgerStoreOptions): LedgerConfigStore {
  const ledger = openLedger(store, options.prefix);
  const domain = options.domain ?? "cluster.local";
  const source = options.prefix;
  const configOf = (text: string, hash: string) => fromStoredText(text, hash, domain, source);
  const info = (message: string): CommitInfo => ({ author: options.author, message, timeMs: options.now() });
  const current = async (key: string): Promise<Config | undefined> => {
    const found = await ledger.get((await ledger.head()).root, key);
    return found === undefined ? undefined : configOf(found.text, found.hash);
  };

  const refusal = async (result: Extract<LedgerResult, { kind: "conflict" }>): Promise<WriteResult> => ({
    kind: "conflict",
    current: result.current === undefined ? undefined : configOf(await ledger.text(result.current), result.current),
    winner: result.winner,
  });
  const write = async (change: LedgerChange, message: string): Promise<WriteResult> => {
    const result = await ledger.write([change], info(message));
    if (result.kind === "conflict") return refusal(result);
    const resourceVersion = change.text === undefined ? "" : sha256(change.text);
    return { kind: "written", resourceVersion, revision: result.head.revision };
  };
  const accept = (config: Config): WriteResult | string => {
    const { value, diagnostics } = validateConfig(config);
    return value === undefined ? { kind: "invalid", diagnostics } : storedText(value);
  };

  return {
    schemas: kindSchemas,
    ledger,
    get: (kind, name, namespace) => current(entryKey(kind, name, namespace)),
    async list(kind, namespace) {
      const prefix = namespace === undefined || namespace === "" ? `${kind}/` : `${kind}/${namespace}/`;
      const entries = (await ledger.list((await ledger.head()).root)).filter(([key]) => key.startsWith(prefix));
      return Promise.all(entries.map(async ([, hash]) => configOf(await ledger.text(hash), hash)));
    },
    async create(config) {
      const text = accept(config);
      if (typeof text !== "string") return text;
      const key = keyText(keyOf(config));
      const result = await write({ key, text, expected: { hash: undefined } }, `create ${key}`);
      if (result.kind !== "conflict" || result.current === undefined) return result;
      return { kind: "exists", current: result.current };
    },
    async update(config) {
      const text = accept(config);
      if (typeof text !== "string") return text;
      const key = keyText(keyOf(config));
      const old = await current(key);
      if (old === undefined) return { kind: "missing" };
      const { resourceVersion } = config.meta;
      const expected = resourceVersion === "" ? {} : { expected: { hash: resourceVersion } };
      return write({ key, text, ...expected }, `update ${key}`);
    },
    async delete(kind, name, namespace, resourceVersion) {
      const key = entryKey(kind, name, namespace);
      if ((await current(key)) === undefined) return { kind: "missing" };
      const expected = resourceVersion === undefined ? {} : { expected: { hash: resourceVersion } };
      return write({ key, text: undefined, ...expected }, `delete ${key}`);
    },
    version: async () => (await ledger.head()).root,
    async getResourceAtVersion(version, key) {
      const found = await ledger.get(version, keyText(key));
      return found === undefined ? undefined : configOf(found.text, found.hash);
    },
    async listAtVersion(version) {
      const entries = await ledger.list(version);
      return Promise.all(entries.map(async ([, hash]) => configOf(await ledger.text(hash), hash)));
    },
    async writeAll(changes, message) {
      const { root } = await ledger.head();
      const ledgerChanges: LedgerChange[] = [];
      const resourceVersions = new Map<string, string>();
      const known = new Map(changes.length > 16 ? await ledger.list(root) : []);
      for (const change of changes) {
        if (change.kind === "delete") {
          ledgerChanges.push({ key: keyText(change.key), text: undefined });
          continue;
        }
        const text = accept(change.config);
        const key = keyText(keyOf(change.config));
        if (typeof text !== "string") return { kind: "refused", key, result: text };
        const hash = changes.length > 16 ? known.get(key) : (await ledger.get(root, key))?.hash;
        if (change.if === "present" && hash === undefined) return { kind: "refused", key, result: { kind: "missing" } };
        const { resourceVersion } = change.config.meta;
        const expected =
          change.if === "absent"
            ? { expected: { hash: undefined } }
            : resourceVersion === ""
              ? {}
              : { expected: { hash: resourceVersion } };
        ledgerChanges.push({ key, text, ...expected });
        resourceVersions.set(key, sha256(text));
      }
      const result = await ledger.write(
        ledgerChanges.sort((a, b) => byCodePoint(a.key, b.key)),
        info(message),
      );
      if (result.kind === "written") return { kind: "written", revision: result.head.revision, resourceVersions };
      const conflict = await refusal(result);
      const exists = conflict.kind === "conflict" && conflict.current !== undefined;
      const creating = changes.some(
        (change) => change.kind === "put" && change.if === "absent" && keyText(keyOf(change.config)) === result.key,
      );
      return {
        kind: "refused",
        key: result.key,
        result: exists && creating ? { kind: "exists", current: conflict.current } : conflict,
      };
    },
  };
}
