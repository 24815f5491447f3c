import { createHash } from "node:crypto";
import { listHashed } from "./list-hashed.ts";
import type { ObjectStore } from "./object-store.ts";

/** As lists name it: lower-case hex. */
export const md5Of = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex");

/**
 * Objects of a hashed folder that are what they should be, as far as the store's list vouches for it: a list costs less than reading.
 *
 * @param bytesOf what should lie under a key; undefined for what nobody asks about
 * @returns keys; none where the store does not vouch for all that it lists
 */
export async function vouchedFor(
  store: ObjectStore,
  folder: string,
  bytesOf: (key: string) => Uint8Array | undefined,
): Promise<ReadonlySet<string>> {
  const whole = new Set<string>();
  let isVouching = true;
  await listHashed(store, folder, ({ key, md5 }) => {
    if (md5 === undefined) isVouching = false;
    const bytes = isVouching ? bytesOf(key) : undefined;
    if (bytes !== undefined && md5Of(bytes) === md5) whole.add(key);
    return isVouching;
  });
  return isVouching ? whole : new Set();
}
