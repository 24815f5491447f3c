import { hashOf } from "../../snapshot/blob.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type Confirmer, factMs, isOneEnvoy, type MemoryConfirmations, memoryConfirmations } from "./confirmations.ts";

/** Where fronts that share no memory tell one another what nodes have confirmed. What is lost there is waited for. */
export interface ConfirmationRecords {
  get(name: string): Promise<string | undefined>;
  put(name: string, version: string): Promise<void>;
  /** Whether anybody may write: else only those who have proven who they are, so that nobody fills it. */
  readonly isForAnyone: boolean;
}

export interface SharedOptions {
  readonly now?: () => number;
  /** What is known without the records; this process's own memory by default. */
  readonly memory?: MemoryConfirmations;
  readonly onError: (cause: unknown) => void;
}

/** How often a held poll looks whether another front has heard its node, */
const lookMs = 300;

/** Confirmations of this process, and of others where its own do not do. Only what lets a node through a gate is written. */
export function sharedConfirmations(records: ConfirmationRecords, options: SharedOptions): MemoryConfirmations {
  const { now = Date.now, memory = memoryConfirmations(now), onError } = options;
  /** By name, when a record was written last. */
  const written = new Map<string, number>();
  const mayShare = (confirmer: Confirmer) =>
    isOneEnvoy(confirmer) && (records.isForAnyone || confirmer.caller.kind === "node");

  async function share(name: string, version: string): Promise<void> {
    if (now() - (written.get(name) ?? 0) < factMs / 2) return;
    if (written.size >= maxWritten) written.clear();
    written.set(name, now());
    await records.put(name, `${version} ${now()}`).catch(onError);
  }

  return {
    ...memory,
    lookMs,
    async hasOneOf(confirmer, versions) {
      const has = await memory.hasOneOf(confirmer, versions);
      if (!mayShare(confirmer) || memory.isDoubtful(confirmer)) return has;
      const name = hashOf(confirmer.key);
      if (has) {
        const version = memory.versionOf(confirmer);
        // What another process has heard it shares itself.
        if (version !== undefined && versions.includes(version)) await share(name, version);
        return true;
      }
      const text = await records.get(name).catch((cause: unknown) => {
        onError(cause);
        return undefined;
      });
      const [version = "", saidMs] = (text ?? "").split(" ");
      return Math.abs(now() - Number(saidMs)) < factMs && versions.includes(version);
    },
  };
}

/** What is written again for those who are forgotten here does no harm. */
const maxWritten = 10_000;

/** Records in the store: one small object for each node, written once for each switch that it is let through. */
const confirmationPrefix = "confirmed/";

export function storeRecords(store: ObjectStore): ConfirmationRecords {
  return {
    isForAnyone: false,
    async get(name) {
      const found = await store.get(confirmationPrefix + name);
      return found.kind === "found" ? new TextDecoder().decode(found.bytes) : undefined;
    },
    async put(name, version) {
      await store.put(confirmationPrefix + name, new TextEncoder().encode(version));
    },
  };
}

/** What of the Cache API is used. */
export interface EdgeCache {
  match(url: string): Promise<{ text(): Promise<string> } | undefined>;
  put(url: string, response: Response): Promise<unknown>;
}

/** Records in the cache of the place where a Worker runs, which forgets them by itself. Nodes are mostly answered in one place. */
export function cacheRecords(cache: EdgeCache): ConfirmationRecords {
  const urlOf = (name: string) => `https://portolan.invalid/confirmed/${name}`;
  return {
    isForAnyone: true,
    get: async (name) => (await cache.match(urlOf(name)))?.text(),
    async put(name, version) {
      await cache.put(urlOf(name), new Response(version, { headers: { "cache-control": "max-age=5" } }));
    },
  };
}
