import { buffer } from "node:stream/consumers";
import { type ContainerClient, RestError, StorageResponseFormat } from "@azure/storage-blob";
import { byCodePoint, PortolanError } from "../base/diagnostic.ts";
import { namingStore, sameBytes, timeoutsMs } from "./cloud-store.ts";
import { createDateClock } from "./date-clock.ts";
import { foldersOf } from "./files/folders-of.ts";
import { checkKey, type GetResult, type ObjectStore, type PutCondition } from "./object-store.ts";
import { untilAnswered } from "./until-answered.ts";

export interface AzureOptions {
  /** Ready to use; it does not repeat requests, since this store does. */
  readonly client: ContainerClient;
  /** Put before every key; ends with a slash, or is empty. */
  readonly prefix?: string;
  /** Objects on a page of a list; as many as the service gives, 5,000, when absent. */
  readonly pageSize?: number;
}

/** What answers have in common. */
interface Dated {
  readonly date?: Date;
}

/**
 * A store in a container of Azure Blob Storage.
 *
 * @see https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
 */
export function azureStore({ client, prefix = "", pageSize }: AzureOptions): ObjectStore {
  const clock = createDateClock();
  const pageFrom = (continuationToken: string | undefined) => ({
    ...(continuationToken === undefined ? {} : { continuationToken }),
    ...(pageSize === undefined ? {} : { maxPageSize: pageSize }),
  });
  const at = (key: string) => client.getBlockBlobClient(prefix + checkKey(key));

  const answered = <T extends Dated>(timeoutMs: number, send: (signal: AbortSignal, isRepeat: boolean) => Promise<T>) =>
    untilAnswered({
      timeoutMs,
      isPassing,
      async send(signal, isRepeat) {
        const askedMs = performance.now();
        const answer = await send(signal, isRepeat);
        if (answer.date !== undefined) clock.seen(answer.date.toUTCString(), askedMs);
        return answer;
      },
    });

  async function get(key: string, { ifNoneMatch }: { readonly ifNoneMatch?: string } = {}): Promise<GetResult> {
    const conditions = isTag(ifNoneMatch) ? { ifNoneMatch } : {};
    const blob = at(key);
    try {
      const { bytes, etag, lastModified } = await answered(timeoutsMs.get, async (abortSignal) => {
        const answer = await blob.download(0, undefined, { abortSignal, conditions });
        const { date, etag, lastModified, readableStreamBody: body } = answer;
        const bytes = new Uint8Array(body === undefined ? [] : await buffer(body));
        return { ...(date === undefined ? {} : { date }), etag, lastModified, bytes };
      });
      const modified = lastModified === undefined ? {} : { modifiedMs: lastModified.getTime() };
      return { kind: "found", bytes, etag: etag ?? "", ...modified };
    } catch (cause) {
      if (statusOf(cause) === 304) return { kind: "unchanged" };
      if (codeOf(cause) === "BlobNotFound") return { kind: "absent" };
      throw cause;
    }
  }

  async function* listed(start: string, after: string | undefined) {
    const from = after === undefined ? {} : { startFrom: prefix + after };
    for (let continuationToken: string | undefined; ; ) {
      const page = await answered(timeoutsMs.list, async (abortSignal) => {
        const options = { prefix: prefix + start, ...from, responseFormat: StorageResponseFormat.Xml, abortSignal };
        return firstOf(client.listBlobsFlat(options).byPage(pageFrom(continuationToken)));
      });
      yield* page.segment.blobItems;
      if (!page.continuationToken) return;
      continuationToken = page.continuationToken;
    }
  }

  return namingStore(`Azure container ${client.accountName}/${client.containerName}`, {
    get,
    async put(key, bytes, condition = {}) {
      if (condition.ifMatch !== undefined && !isTag(condition.ifMatch)) return { kind: "lost" };
      const blob = at(key);
      let mayHaveWritten = false;
      try {
        const { etag = "" } = await answered(timeoutsMs.put(bytes), async (abortSignal, isRepeat) => {
          mayHaveWritten = isRepeat;
          return blob.upload(bytes, bytes.length, { abortSignal, conditions: conditionsOf(condition) });
        });
        return { kind: "stored", etag };
      } catch (cause) {
        if (!isLost(cause, condition)) throw cause;
        if (!mayHaveWritten) return { kind: "lost" };
        // The answer to an earlier attempt may have been lost on the way, and this one has found our own bytes.
        const found = await get(key);
        const isOurs = found.kind === "found" && sameBytes(found.bytes, bytes);
        return isOurs ? { kind: "stored", etag: found.etag } : { kind: "lost" };
      }
    },
    async *list(start, after) {
      let last = "";
      for await (const { name, properties } of listed(start, after)) {
        // In an account with a hierarchical namespace a slash comes before every other character.
        if (byCodePoint(last, name) > 0) throw new PortolanError(hierarchical);
        last = name;
        const key = name.slice(prefix.length);
        // The start itself is listed too.
        if (key === after) continue;
        yield { key, sizeBytes: properties.contentLength ?? 0, modifiedMs: properties.lastModified.getTime() };
      }
    },
    async folders(start) {
      const found: string[] = [];
      for (let continuationToken: string | undefined; ; ) {
        const page = await answered(timeoutsMs.list, async (abortSignal) => {
          const options = { prefix: prefix + start, responseFormat: StorageResponseFormat.Xml, abortSignal };
          return firstOf(client.listBlobsByHierarchy("/", options).byPage(pageFrom(continuationToken)));
        });
        found.push(...(page.segment.blobPrefixes ?? []).map(({ name }) => name));
        if (!page.continuationToken) return foldersOf(found, prefix + start);
        continuationToken = page.continuationToken;
      }
    },
    async delete(key) {
      const blob = at(key);
      const send = (abortSignal: AbortSignal) => blob.delete({ abortSignal, deleteSnapshots: "include" });
      await answered(timeoutsMs.get, send).catch((cause: unknown) => {
        if (codeOf(cause) !== "BlobNotFound") throw cause;
      });
    },
    time: async () => clock.now(),
  });
}

const hierarchical =
  "blobs are not listed in the order of their names, as in an account with a hierarchical namespace (Data Lake Storage). Use a container of an account without one.";

async function firstOf<T>(pages: AsyncIterable<T>): Promise<T> {
  for await (const page of pages) return page;
  throw new PortolanError("a list has no page");
}

/** Only what Azure writes is sent back to it: it answers 400 to other texts. */
const isTag = (etag: string | undefined): etag is string => etag !== undefined && /^"[^"]+"$/.test(etag);

const conditionsOf = ({ ifMatch, ifNoneMatch }: PutCondition) => ({
  ...(ifMatch === undefined ? {} : { ifMatch }),
  ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
});

/** A lease that somebody holds on a blob has status 412 too, so codes decide. */
function isLost(cause: unknown, { ifMatch }: PutCondition): boolean {
  const code = codeOf(cause);
  return (
    code === "ConditionNotMet" || code === "BlobAlreadyExists" || (code === "BlobNotFound" && ifMatch !== undefined)
  );
}

const statusOf = (cause: unknown): number | undefined => (cause instanceof RestError ? cause.statusCode : undefined);

const codeOf = (cause: unknown): string | undefined => (cause instanceof RestError ? cause.code : undefined);

/** Throttling, failures of the service's own, and connections that broke, which have no status. */
function isPassing(cause: unknown): boolean {
  if (!(cause instanceof RestError)) return false;
  const { statusCode: status } = cause;
  return status === undefined ? cause.code === RestError.REQUEST_SEND_ERROR : status === 429 || status >= 500;
}
