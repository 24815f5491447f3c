import { sha256 } from "../config/canonical-json.ts";
import type { Config } from "../config/config.ts";
import { keyOf } from "../config/config.ts";
import { byCodePoint, type ConfigKey, keyText, kindText } from "../config/diagnostic.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import type { KindSchema } from "../config/kind-schema.ts";
import { listKind } from "./config-map.ts";
import { type ConfigEvent, type ConfigStoreCache, entryKey, type WriteResult } from "./config-store.ts";
import { createEventHandlers } from "./event-handlers.ts";
import { stopped } from "./stopped.ts";
import { validateConfig } from "./validate-config.ts";

export interface MemoryStoreOptions {
  /** Every known kind when absent. */
  readonly schemas?: readonly KindSchema[];
  /** Whether writes are checked; true when absent. */
  readonly validate?: boolean;
}

/** Versions that are remembered after something has asked for them. */
const rememberedVersions = 1000;

/** A store that lives as long as its owner; every write is seen at once, and told after it has happened. */
export function createMemoryStore(options: MemoryStoreOptions = {}): ConfigStoreCache {
  const schemas = options.schemas ?? kindSchemas;
  const kinds = new Set(schemas.map(kindText));
  const validate = options.validate ?? true;
  const configs = new Map<string, Config>();
  /** By key: the content before each write, with the number of the write. */
  const past = new Map<string, { readonly revision: number; readonly before: Config | undefined }[]>();
  /** Version → number of the last write that it includes. */
  const versions = new Map<string, number>();
  const handlers = createEventHandlers();
  let revision = 0;
  let synced = false;

  const accept = (config: Config): WriteResult | Config => {
    const kind = kindText(config.meta);
    if (!kinds.has(kind)) return { kind: "read-only", reason: `unknown type ${kind}` };
    if (!validate) return config;
    const { value, diagnostics } = validateConfig(config);
    return value ?? { kind: "invalid", diagnostics };
  };
  const write = async (key: string, next: Config | undefined, event: ConfigEvent): Promise<WriteResult> => {
    const log = past.get(key) ?? [];
    past.set(key, log);
    log.push({ revision: revision + 1, before: configs.get(key) });
    revision++;
    if (next === undefined) configs.delete(key);
    else configs.set(key, next);
    await handlers.tell([event]);
    return { kind: "written", resourceVersion: next?.meta.resourceVersion ?? "", revision };
  };
  const stamped = (config: Config): Config => ({
    ...config,
    meta: { ...config.meta, resourceVersion: String(revision + 1) },
  });

  return {
    schemas,
    ledger: undefined,
    get: async (kind, name, namespace) => configs.get(entryKey(kind, name, namespace)),
    list: async (kind, namespace) => listKind(configs, kind, namespace),
    async create(config) {
      const accepted = accept(config);
      if ("kind" in accepted) return accepted;
      const key = keyText(keyOf(config));
      const current = configs.get(key);
      if (current !== undefined) return { kind: "exists", current };
      const next = stamped(accepted);
      return write(key, next, { kind: "add", current: next });
    },
    async update(config) {
      const accepted = accept(config);
      if ("kind" in accepted) return accepted;
      const key = keyText(keyOf(config));
      const old = configs.get(key);
      if (old === undefined) return { kind: "missing" };
      const { resourceVersion } = config.meta;
      if (resourceVersion !== "" && resourceVersion !== old.meta.resourceVersion) {
        return { kind: "conflict", current: old, winner: undefined };
      }
      const next = stamped(accepted);
      return write(key, next, { kind: "update", old, current: next });
    },
    async delete(kind, name, namespace, resourceVersion) {
      const key = entryKey(kind, name, namespace);
      const current = configs.get(key);
      if (current === undefined) return { kind: "missing" };
      if (resourceVersion !== undefined && resourceVersion !== current.meta.resourceVersion) {
        return { kind: "conflict", current, winner: undefined };
      }
      return write(key, undefined, { kind: "delete", current });
    },
    async version() {
      const lines = [...configs].map(([key, config]) => `${key} ${config.meta.resourceVersion}`).sort(byCodePoint);
      const version = sha256(lines.join("\n"));
      versions.delete(version);
      versions.set(version, revision);
      const [oldest] = versions.keys();
      if (versions.size > rememberedVersions && oldest !== undefined) versions.delete(oldest);
      return version;
    },
    async getResourceAtVersion(version, key: ConfigKey) {
      const at = versions.get(version);
      if (at === undefined) return undefined;
      const text = keyText(key);
      const firstAfter = past.get(text)?.find((entry) => entry.revision > at);
      return firstAfter === undefined ? configs.get(text) : firstAfter.before;
    },
    registerEventHandler: handlers.register,
    async run(stop) {
      handlers.close();
      synced = true;
      await stopped(stop);
    },
    hasSynced: () => synced,
  };
}
