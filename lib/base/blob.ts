import { hash } from "node:crypto";

/** SHA-256, lower-case hex, 64 characters: the name of a blob. */
export function hashOf(bytes: Uint8Array | string): string {
  return hash("sha256", bytes);
}

/** Bytes that are stored under their own hash. */
export interface Blob {
  readonly hash: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One that is made when it is asked for. */
export interface LazyBlob {
  readonly hash: string;
  make(): Uint8Array<ArrayBuffer>;
}

/** One that is at hand, for those who would have it made. */
export const madeBlob = ({ hash, bytes }: Blob): LazyBlob => ({ hash, make: () => bytes });

export function blobOf(text: string): Blob {
  const bytes = new TextEncoder().encode(text);
  return { hash: hashOf(bytes), bytes };
}

/** Bytes one after the other. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** A message in proto JSON, on one line, keys in the order of the object. */
export const jsonBlob = (message: object): Blob => blobOf(JSON.stringify(message));

export const blobFolder = "blobs/";

/** Key of a blob in the store; two digits of fan-out keep folders small. */
export const blobKey = (hash: string): string => `${blobFolder}${hash.slice(0, 2)}/${hash}`;

/** The blob that lies under a key; undefined for a key of something else. */
export const blobOfKey = (key: string): string | undefined => /^blobs\/..\/([0-9a-f]{64})$/.exec(key)?.[1];

export const headKey = "HEAD";
