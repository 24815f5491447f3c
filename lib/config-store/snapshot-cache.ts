import { sha256 } from "../config/canonical-json.ts";
import { causeText } from "../config/cause-text.ts";
import type { Config } from "../config/config.ts";
import { byCodePoint, type Diagnostic, fileOrigin, keyText, type Stage } from "../config/diagnostic.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import { storedText } from "../config/object-json.ts";
import { type ConfigMap, configMap, diffConfigs, listKind } from "./config-map.ts";
import { type ConfigStoreCache, entryKey, readOnly } from "./config-store.ts";
import { createEventHandlers } from "./event-handlers.ts";
import { stopped } from "./stopped.ts";

/** Where a cache gets its content from, whole, and hears that it may have changed. */
export interface SnapshotOrigin {
  /** Said to whoever tries to write. */
  readonly name: string;
  /** The content now. @throws when it cannot be read: the cache then keeps what it has */
  load(): Promise<Stage<readonly Config[]>>;
  /** Calls back soon after a change. */
  watch(onChange: () => void): Promise<() => Promise<void>>;
}

export interface SnapshotCache extends ConfigStoreCache {
  /** What the last reading had to say, or that it failed. */
  diagnostics(): readonly Diagnostic[];
  /** Resolves when a change that was announced has been read and told. */
  settled(): Promise<void>;
}

/** Versions whose content is kept. */
const rememberedVersions = 16;

/** A read-only store that follows an origin: each change is read whole, compared, and told as events. */
export function createSnapshotCache(origin: SnapshotOrigin): SnapshotCache {
  const handlers = createEventHandlers();
  const versions = new Map<string, ConfigMap>();
  let configs: ConfigMap = new Map();
  let diagnostics: readonly Diagnostic[] = [];
  let synced = false;
  let reading: Promise<void> = Promise.resolve();
  let announced = false;

  const read = async (): Promise<void> => {
    announced = false;
    let loaded: Stage<readonly Config[]>;
    try {
      loaded = await origin.load();
    } catch (cause) {
      // The last good content stays: a source that is away for a moment takes nothing with it.
      diagnostics = [unreadable(origin.name, cause)];
      return;
    }
    const next = configMap(loaded.value);
    const events = diffConfigs(configs, next);
    configs = next;
    diagnostics = loaded.diagnostics;
    await handlers.tell(events);
    synced = true;
  };
  const announce = (): void => {
    if (announced) return;
    announced = true;
    reading = reading.then(read);
  };
  const versionOf = (content: ConfigMap): string =>
    sha256(
      [...content]
        .map(([key, config]) => `${key} ${sha256(storedText(config))}`)
        .sort(byCodePoint)
        .join("\n"),
    );
  const reason = `${origin.name} is read-only here`;

  return {
    schemas: kindSchemas,
    ledger: undefined,
    get: async (kind, name, namespace) => configs.get(entryKey(kind, name, namespace)),
    list: async (kind, namespace) => listKind(configs, kind, namespace),
    create: () => readOnly(reason),
    update: () => readOnly(reason),
    delete: () => readOnly(reason),
    async version() {
      const version = versionOf(configs);
      versions.set(version, configs);
      const [oldest] = versions.keys();
      if (versions.size > rememberedVersions && oldest !== undefined) versions.delete(oldest);
      return version;
    },
    getResourceAtVersion: async (version, key) => versions.get(version)?.get(keyText(key)),
    registerEventHandler: handlers.register,
    async run(stop) {
      handlers.close();
      const unwatch = await origin.watch(announce);
      announce();
      await reading;
      await stopped(stop);
      await unwatch();
    },
    hasSynced: () => synced,
    diagnostics: () => diagnostics,
    settled: () => reading,
  };
}

function unreadable(name: string, cause: unknown): Diagnostic {
  return {
    code: "unreadable-source",
    severity: "error",
    origin: fileOrigin(name),
    path: [],
    message: `cannot read ${name}: ${causeText(cause)}`,
    hint: "its last content stays in force",
  };
}
