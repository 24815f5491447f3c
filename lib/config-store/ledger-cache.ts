import type { Config } from "../config/config.ts";
import { fromStoredText } from "../config/object-json.ts";
import type { LedgerStore } from "./ledger/ledger-port.ts";
import { createLedgerStore, type LedgerStoreOptions } from "./ledger-store.ts";
import { createSnapshotCache, type SnapshotCache } from "./snapshot-cache.ts";

/**
 * Follows a ledger: its head is looked at from time to time, and of a new version only what differs is read.
 *
 * @param everyMs how often the head is looked at
 */
export function createLedgerCache(
  store: LedgerStore,
  options: LedgerStoreOptions & { readonly everyMs: number },
): SnapshotCache {
  const { ledger } = createLedgerStore(store, options);
  const domain = options.domain ?? "cluster.local";
  let root = "";
  let configs: ReadonlyMap<string, Config> = new Map();
  return createSnapshotCache({
    name: options.prefix,
    async load() {
      const head = await ledger.head();
      const next = new Map(configs);
      for (const { key, after } of await ledger.diff(root, head.root)) {
        if (after === undefined) next.delete(key);
        else next.set(key, fromStoredText(await ledger.text(after), after, domain, options.prefix));
      }
      root = head.root;
      configs = next;
      return { value: [...next.values()], diagnostics: [] };
    },
    async watch(onChange) {
      const timer = setInterval(onChange, options.everyMs);
      return async () => clearInterval(timer);
    },
  });
}
