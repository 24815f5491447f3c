import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { TrustBundles } from "../../snapshot/trust-bundle.ts";

/** Reads the certificates of roots, those of the last few once. */
export function createBundleReader(reader: Pick<SnapshotReader, "text">): (hash: string) => Promise<TrustBundles> {
  const kept = new Map<string, Promise<TrustBundles>>();
  return (hash) => {
    const known = kept.get(hash);
    if (known !== undefined) return known;
    // What a compile has written, by its hash.
    const found = reader.text(hash).then((text): TrustBundles => JSON.parse(text));
    kept.set(hash, found);
    found.catch(() => kept.delete(hash));
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return found;
  };
}

/** Roots of a switch, of a canary, and the one before. */
const maxKept = 4;
