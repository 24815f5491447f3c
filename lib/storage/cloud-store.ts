import { PortolanError } from "../base/diagnostic.ts";
import { mapErrors } from "./map-errors.ts";
import type { ObjectStore } from "./object-store.ts";

/** How long one attempt of a request to a cloud may take, in milliseconds. */
export const timeoutsMs = {
  get: 4_000,
  list: 8_000,
  /** Eight seconds for a mebibyte or less; larger bodies get more. */
  put: (bytes: Uint8Array): number => 8_000 * Math.max(1, bytes.length / 1024 / 1024),
} as const;

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/**
 * Puts a store's name in front of its errors.
 *
 * @param name such as `S3 bucket mesh`
 */
export function namingStore(name: string, store: ObjectStore): ObjectStore {
  return mapErrors(store, (cause) => {
    const reason = cause instanceof PortolanError ? cause.message : String(cause);
    throw new PortolanError(`${name}: ${reason}`, [], cause);
  });
}
