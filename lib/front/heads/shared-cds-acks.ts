import { hashOf } from "../../base/blob.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { identityOf } from "../auth/caller.ts";
import { type AckSource, factMs, isOneEnvoy, type MemoryCdsAcks, memoryCdsAcks } from "./cds-acks.ts";

/** Where fronts that share no memory tell one another what nodes have confirmed. What is lost there is waited for. */
export interface ConfirmationRecords {
  get(ackSource: AckSource): Promise<string | undefined>;
  put(ackSource: AckSource, text: string): Promise<void>;
  /** Whether anybody may write: else only those who have proven who they are, so that nobody fills it. */
  readonly isForAnyone: boolean;
}

export interface SharedOptions {
  readonly now?: () => number;
  /** What is known without the records; this process's own memory by default. */
  readonly memory?: MemoryCdsAcks;
  readonly onError: (cause: unknown) => void;
}

/** How often a held poll looks whether another front has heard its node, */
const lookMs = 300;

/** Confirmations of this process, and of others where its own do not do. Only what lets a node through a gate is written. */
export function sharedCdsAcks(records: ConfirmationRecords, options: SharedOptions): MemoryCdsAcks {
  const { now = Date.now, memory = memoryCdsAcks(now), onError } = options;
  /** By name, when a record was written last. */
  const written = new Map<string, number>();
  const mayShare = (ackSource: AckSource) =>
    isOneEnvoy(ackSource) && (records.isForAnyone || ackSource.caller.kind === "node");

  async function share(ackSource: AckSource, version: string): Promise<void> {
    const name = hashOf(ackSource.key);
    if (now() - (written.get(name) ?? 0) < factMs / 2) return;
    if (written.size >= maxWritten) written.clear();
    written.set(name, now());
    await records.put(ackSource, `${version} ${now()}`).catch(onError);
  }

  return {
    ...memory,
    lookMs,
    async hasOneOf(ackSource, versions) {
      const has = await memory.hasOneOf(ackSource, versions);
      if (!mayShare(ackSource) || memory.isDoubtful(ackSource)) return has;
      if (has) {
        const version = memory.versionOf(ackSource);
        // What another process has heard it shares itself.
        if (version !== undefined && versions.includes(version)) await share(ackSource, version);
        return true;
      }
      const text = await records.get(ackSource).catch((cause: unknown) => {
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

/** Records in the store: small objects, written once for each switch that a node is let through. */
const confirmationPrefix = "confirmed/";

/**
 * Objects of one who has proven who he is: nobody fills the store with ids that he makes up. Two of his nodes may have the same, and the
 * one that is written over waits for the time.
 */
const maxOfSubject = 1_024;

function recordOf({ caller, key }: AckSource): { readonly name: string; readonly mark: string } {
  const mark = hashOf(key).slice(0, 32);
  const slot = Number.parseInt(mark.slice(0, 8), 16) % maxOfSubject;
  return { name: `${confirmationPrefix}${hashOf(identityOf(caller)).slice(0, 32)}-${slot}`, mark };
}

export function storeRecords(store: ObjectStore): ConfirmationRecords {
  return {
    isForAnyone: false,
    async get(ackSource) {
      const { name, mark } = recordOf(ackSource);
      const found = await store.get(name);
      const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
      return text.startsWith(`${mark} `) ? text.slice(mark.length + 1) : undefined;
    },
    async put(ackSource, text) {
      const { name, mark } = recordOf(ackSource);
      await store.put(name, new TextEncoder().encode(`${mark} ${text}`));
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
  const urlOf = ({ key }: AckSource) => `https://portolan.invalid/confirmed/${hashOf(key)}`;
  return {
    isForAnyone: true,
    get: async (ackSource) => (await cache.match(urlOf(ackSource)))?.text(),
    async put(ackSource, text) {
      await cache.put(urlOf(ackSource), new Response(text, { headers: { "cache-control": "max-age=5" } }));
    },
  };
}
