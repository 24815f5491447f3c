import { sha256 } from "../config/canonical-json.ts";
import { type Config, keyOf } from "../config/config.ts";
import { keyText, kindText, PortolanError } from "../config/diagnostic.ts";
import type { KindSchema } from "../config/kind-schema.ts";
import { type ConfigStore, type ConfigStoreCache, readOnly } from "./config-store.ts";
import { stopped } from "./stopped.ts";

/**
 * Several stores as one. A kind is asked of the stores that have it, in their order; of objects with equal keys the first
 * store's counts. Writes go to `writer`, and are refused without one.
 * @see docs/how-istio-does-it/config-stores.md#several-stores-as-one
 *
 * @throws PortolanError when two stores disagree about a kind
 */
export function aggregateStores(stores: readonly ConfigStore[], writer?: ConfigStore): ConfigStore {
  const schemas = unionOf(stores);
  const storesOf = (kind: string) =>
    stores.filter((store) => store.schemas.some((schema) => kindText(schema) === kind));
  const reason = "several sources are joined here, and none of them is for writing";
  return {
    schemas,
    ledger: writer?.ledger,
    async get(kind, name, namespace) {
      for (const store of storesOf(kind)) {
        const found = await store.get(kind, name, namespace);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async list(kind, namespace) {
      const lists = await Promise.all(storesOf(kind).map((store) => store.list(kind, namespace)));
      const found = new Map<string, Config>();
      for (const config of lists.flat()) {
        const key = keyText(keyOf(config));
        if (!found.has(key)) found.set(key, config);
      }
      return [...found.values()];
    },
    create: (config) => writer?.create(config) ?? readOnly(reason),
    update: (config) => writer?.update(config) ?? readOnly(reason),
    delete: (kind, name, namespace, resourceVersion) =>
      writer?.delete(kind, name, namespace, resourceVersion) ?? readOnly(reason),
    version: async () => sha256((await Promise.all(stores.map((store) => store.version()))).join("\n")),
    getResourceAtVersion: (version, key) => writer?.getResourceAtVersion(version, key) ?? Promise.resolve(undefined),
  };
}

/** As `aggregateStores`, with the events of all of them. */
export function aggregateCaches(caches: readonly ConfigStoreCache[], writer?: ConfigStore): ConfigStoreCache {
  return {
    ...aggregateStores(caches, writer),
    registerEventHandler(kind, handler) {
      for (const cache of caches) {
        if (cache.schemas.some((schema) => kindText(schema) === kind)) cache.registerEventHandler(kind, handler);
      }
    },
    async run(stop) {
      await Promise.all([...caches.map((cache) => cache.run(stop)), stopped(stop)]);
    },
    hasSynced: () => caches.every((cache) => cache.hasSynced()),
  };
}

function unionOf(stores: readonly ConfigStore[]): readonly KindSchema[] {
  const union = new Map<string, KindSchema>();
  for (const schema of stores.flatMap((store) => store.schemas)) {
    const earlier = union.get(kindText(schema));
    if (earlier !== undefined && (earlier.group !== schema.group || earlier.clusterScoped !== schema.clusterScoped)) {
      throw new PortolanError(
        `two sources disagree about the kind ${schema.kind}: ${earlier.group} and ${schema.group}`,
      );
    }
    union.set(kindText(schema), earlier ?? schema);
  }
  return [...union.values()];
}
