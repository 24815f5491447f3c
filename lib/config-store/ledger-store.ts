import { byCodePoint, type ConfigKey, keyText } from "../base/diagnostic.ts";
import { sha256 } from "../config/canonical-json.ts";
import type { Config } from "../config/config.ts";
import { keyOf } from "../config/config.ts";
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

  /** @param condition of the write: what exists or does not has a result of its own */
  const refusal = async (
    result: Extract<LedgerResult, { kind: "conflict" }>,
    condition: "absent" | "present" | undefined,
  ): Promise<WriteResult> => {
    const current =
      result.current === undefined ? undefined : configOf(await ledger.text(result.current), result.current);
    if (condition === "absent" && current !== undefined) return { kind: "exists", current };
    if (condition === "present" && current === undefined) return { kind: "missing" };
    return { kind: "conflict", current, winner: result.winner };
  };
  const write = async (
    change: LedgerChange,
    condition: "absent" | "present",
    message: string,
  ): Promise<WriteResult> => {
    const result = await ledger.write([change], info(message));
    if (result.kind === "conflict") return refusal(result, condition);
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
      return write({ key, text, expected: { hash: undefined } }, "absent", `create ${key}`);
    },
    async update(config) {
      const text = accept(config);
      if (typeof text !== "string") return text;
      const key = keyText(keyOf(config));
      return write({ key, text, expected: expectedOf(config.meta.resourceVersion) }, "present", `update ${key}`);
    },
    delete(kind, name, namespace, resourceVersion = "") {
      const key = entryKey(kind, name, namespace);
      return write({ key, text: undefined, expected: expectedOf(resourceVersion) }, "present", `delete ${key}`);
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
      const ledgerChanges: LedgerChange[] = [];
      const resourceVersions = new Map<string, string>();
      const conditions = new Map<string, "absent" | "present">();
      for (const change of changes) {
        if (change.kind === "delete") {
          ledgerChanges.push({ key: keyText(change.key), text: undefined });
          continue;
        }
        const text = accept(change.config);
        const key = keyText(keyOf(change.config));
        if (typeof text !== "string") return { kind: "refused", key, result: text };
        const { resourceVersion } = change.config.meta;
        // The ledger looks at the moment of the write: what was looked up before it may have been deleted meanwhile.
        const isAnyGood = change.if === undefined && resourceVersion === "";
        const expected = change.if === "absent" ? { hash: undefined } : expectedOf(resourceVersion);
        ledgerChanges.push({ key, text, ...(isAnyGood ? {} : { expected }) });
        if (change.if !== undefined) conditions.set(key, change.if);
        resourceVersions.set(key, sha256(text));
      }
      const result = await ledger.write(
        ledgerChanges.sort((a, b) => byCodePoint(a.key, b.key)),
        info(message),
      );
      if (result.kind === "written") return { kind: "written", revision: result.head.revision, resourceVersions };
      return { kind: "refused", key: result.key, result: await refusal(result, conditions.get(result.key)) };
    },
  };
}

/** What must lie where an object is replaced or deleted: its revision, or any. */
const expectedOf = (resourceVersion: string): NonNullable<LedgerChange["expected"]> =>
  resourceVersion === "" ? "present" : { hash: resourceVersion };
