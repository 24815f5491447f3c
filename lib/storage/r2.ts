import { PortolanError } from "../base/diagnostic.ts";
import { foldersOf } from "./files/folders-of.ts";
import { checkKey, type ObjectStore } from "./object-store.ts";

/** An object of a bucket, without what is in it. */
interface BoundObject {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
  readonly uploaded: Date;
}

/** What is used of a bucket that a Worker is bound to: Cloudflare's `R2Bucket` is one, and nobody needs its types to use the rest. */
export interface BoundBucket {
  get(
    key: string,
    options?: { readonly onlyIf: { readonly etagDoesNotMatch: string } },
  ): Promise<BoundObject | (BoundObject & { arrayBuffer(): Promise<ArrayBuffer> }) | null>;
  put(
    key: string,
    bytes: Uint8Array<ArrayBuffer>,
    options?: { readonly onlyIf: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string } },
  ): Promise<BoundObject | null>;
  list(options: Listing): Promise<Page>;
  delete(key: string): Promise<void>;
}

interface Listing {
  readonly prefix: string;
  /** What stands up to it behind the prefix is told once, and not what follows. */
  readonly delimiter?: string;
  readonly cursor?: string;
  readonly startAfter?: string;
}

interface Page {
  readonly objects: readonly BoundObject[];
  /** Whole prefixes, each with the delimiter at its end. */
  readonly delimitedPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

/**
 * A store in an R2 bucket that a Worker is bound to.
 *
 * R2 takes about one write a second for one key and refuses more with status 429, so writes of HEAD are to be coalesced by
 * whoever publishes; a refused one is tried again here a few times.
 *
 * @param prefix put before every key; ends with a slash, or is empty
 */
export function r2Store(bucket: BoundBucket, prefix = ""): ObjectStore {
  const at = (key: string) => prefix + checkKey(key);

  async function* pages({ startAfter, ...what }: Listing): AsyncGenerator<Page> {
    let cursor: string | undefined;
    do {
      const from = cursor !== undefined ? { cursor } : startAfter === undefined ? {} : { startAfter };
      const page = await whenCalm(() => bucket.list({ ...what, ...from }));
      yield page;
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  return {
    async get(key, condition = {}) {
      const object = await whenCalm(() =>
        condition.ifNoneMatch === undefined
          ? bucket.get(at(key))
          : bucket.get(at(key), { onlyIf: { etagDoesNotMatch: condition.ifNoneMatch } }),
      );
      if (object === null) return { kind: "absent" };
      // An object that has not changed comes without its body.
      if (!("arrayBuffer" in object)) return { kind: "unchanged" };
      return {
        kind: "found",
        bytes: new Uint8Array(await object.arrayBuffer()),
        etag: object.etag,
        modifiedMs: object.uploaded.getTime(),
      };
    },
    async put(key, bytes, condition = {}) {
      const onlyIf = {
        ...(condition.ifMatch === undefined ? {} : { etagMatches: condition.ifMatch }),
        ...(condition.ifNoneMatch === undefined ? {} : { etagDoesNotMatch: condition.ifNoneMatch }),
      };
      const object = await whenCalm(() =>
        Object.keys(onlyIf).length === 0 ? bucket.put(at(key), bytes) : bucket.put(at(key), bytes, { onlyIf }),
      );
      return object === null ? { kind: "lost" } : { kind: "stored", etag: object.etag };
    },
    async *list(start, after) {
      const from = after === undefined ? {} : { startAfter: prefix + after };
      for await (const { objects } of pages({ prefix: prefix + start, ...from })) {
        for (const { key, size, uploaded, etag } of objects) {
          const listed = { key: key.slice(prefix.length), sizeBytes: size, modifiedMs: uploaded.getTime() };
          yield { ...listed, ...(/^[0-9a-f]{32}$/.test(etag) ? { md5: etag } : {}) };
        }
      }
    },
    async folders(start) {
      const found: string[] = [];
      for await (const { delimitedPrefixes } of pages({ prefix: prefix + start, delimiter: "/" }))
        found.push(...delimitedPrefixes);
      return foldersOf(found, prefix + start);
    },
    async delete(key) {
      await whenCalm(() => bucket.delete(at(key)));
    },
  };
}

const maxAttempts = 4;

/** Tries again when R2 says that it is too much (10058, status 429) or that it failed itself (10001). */
async function whenCalm<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (cause) {
      if (attempt === maxAttempts || !/\b(10001|10058|429)\b/.test(String(cause))) {
        throw new PortolanError(`R2: ${String(cause)}`, [], cause);
      }
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt * (0.5 + Math.random())));
    }
  }
}
