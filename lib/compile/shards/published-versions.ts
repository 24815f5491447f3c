import { newestRoot, type ReadHead } from "../../snapshot/head/head.ts";
import type { BlobSource } from "../../snapshot/reader/blobs.ts";
import { storedRoot } from "../../snapshot/stored-root.ts";

/**
 * The versions of sources that the newest publish was compiled from, by source; none before the first publish.
 *
 * @param base HEAD
 * @throws PortolanError where its root cannot be read
 */
export async function publishedVersions(
  store: BlobSource,
  base: ReadHead | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (base === undefined) return new Map();
  const { sources } = await storedRoot(store, newestRoot(base.head));
  return new Map(sources.map(({ name, version }) => [name, version]));
}
