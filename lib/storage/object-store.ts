import { PortolanError } from "../base/diagnostic.ts";

/** An object as read: its bytes and the tag that a later conditional request names. */
export interface FoundObject {
  readonly kind: "found";
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  /** When it was written, by the store's clock; absent where the store does not say. */
  readonly modifiedMs?: number;
}

export type GetResult =
  | FoundObject
  /** The object is still the one of `ifNoneMatch`; nothing was transferred. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "absent" };

/** `lost` is an answer, not an error: somebody else was first. Read again and decide anew. */
export type PutResult = { readonly kind: "stored"; readonly etag: string } | { readonly kind: "lost" };

/** At most one of the first two. Without a condition the object is replaced, whatever it is. */
export interface PutCondition {
  /** Only if the object still has this tag. An absent object never matches. */
  readonly ifMatch?: string;
  /** Only if there is no such object. */
  readonly ifNoneMatch?: "*";
  /** What it is put together with: until that is kept, a power failure may take the object back, and nothing is to name it. */
  readonly together?: Together | undefined;
}

/** Many objects whose names a store writes to the disk at once. */
export interface Together {
  /** Resolves when all that was put, or found in place, is there for good; to be called when all of it was. */
  kept(): Promise<void>;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Where the store vouches for its content: MD5, lower-case hex. Another one need not mean other content. */
  readonly md5?: string;
}

/**
 * What Portolan needs of a store, and all it uses. Every method throws `PortolanError` when the store cannot be reached or
 * fails; a condition that does not hold is a result. Keys obey `checkKey`, and no key is a folder of another.
 *
 * An etag may repeat when the same bytes are written again (S3's is their MD5), so an object that is compared and swapped
 * must never repeat its bytes: HEAD holds a growing generation for that. A tag may be worked out when it is asked for: nobody changes
 * bytes that were put or gotten, or hands them to another thread, before that.
 */
export interface ObjectStore {
  get(key: string, condition?: { readonly ifNoneMatch?: string }): Promise<GetResult>;
  put(key: string, bytes: Uint8Array<ArrayBuffer>, condition?: PutCondition): Promise<PutResult>;
  /**
   * Every object whose key starts with `prefix` (a plain text prefix), by code point of the key.
   *
   * @param after only keys that come after this text
   */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /**
   * What stands between a prefix and the next slash in the keys that start with it and have one: each once, by code point. However much lies
   * below, little is read for it.
   *
   * @param prefix empty, or ends with a slash
   */
  folders(prefix: string): Promise<readonly string[]>;
  /** For those who are about to put many objects; absent where it would save nothing. */
  together?(): Together;
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>;
  /**
   * Calls back soon after the object may have changed, also when it has not; stores that cannot see changes lack it.
   * @returns ends the watch
   */
  watch?(key: string, onChange: () => void): () => void;
  /** Gives back what is laid by for a full disk, so that a deletion can be announced on it; absent where disks do not fill up. */
  makeRoom?(): Promise<void>;
  /** What the store's clock shows now, to two seconds; undefined while nothing has told, and absent where nothing ever does. */
  time?(): Promise<number | undefined>;
}

const segment = /^[A-Za-z0-9_%=+,@~-][A-Za-z0-9._%=+,@~-]*$/;
const maxKeyLength = 512;
const maxSegmentLength = 200;

/**
 * Keys are what every store, file system and URL takes as it is: parts of letters, digits and `._%=+,@~-` between slashes,
 * no part empty or with a leading dot. Names from outside go through `encodeKeyPart` first.
 *
 * @throws PortolanError for any other key: only our own mistakes reach this
 */
export function checkKey(key: string): string {
  const parts = key.split("/");
  if (key.length > maxKeyLength || !parts.every((part) => part.length <= maxSegmentLength && segment.test(part))) {
    throw new PortolanError(`not a storage key: ${JSON.stringify(key)}`);
  }
  return key;
}

/** A name from outside as one part of a key: other characters, slashes and leading dots are percent-encoded. */
export function encodeKeyPart(name: string): string {
  return encodeURIComponent(name)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\./, "%2E");
}
