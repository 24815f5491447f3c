/**
 * What a ledger needs of an object store: the part of `ObjectStore` (lib/storage) that it uses, said again because this room
 * may not import that one. Every implementation of an ObjectStore fits.
 */
export interface LedgerStore {
  get(key: string): Promise<LedgerRead>;
  put(
    key: string,
    bytes: Uint8Array<ArrayBuffer>,
    condition?: { readonly ifMatch?: string; readonly ifNoneMatch?: "*" },
  ): Promise<LedgerWrite>;
}

export type LedgerRead =
  | { readonly kind: "found"; readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string }
  | { readonly kind: "unchanged" }
  | { readonly kind: "absent" };

export type LedgerWrite = { readonly kind: "stored"; readonly etag: string } | { readonly kind: "lost" };
