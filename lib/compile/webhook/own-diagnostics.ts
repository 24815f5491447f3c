import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readHeadOf } from "../collected/collected-shard.ts";
import { isFileOf, sourceNames } from "../shards/source-names.ts";

/**
 * Those of the diagnostics of a compile that are about some sources. Whoever holds the secret of one is shown no files and messages of the
 * others. What cannot be told to be of one source, such as of a cluster that two of them name, is shown to operators alone.
 *
 * @param sources that the caller may see
 * @param primary whose files are named without its name before them; absent: none is known
 */
export async function ownDiagnostics(
  store: ObjectStore,
  sources: readonly string[],
  diagnostics: readonly Diagnostic[],
  primary: string | undefined,
): Promise<readonly Diagnostic[]> {
  if (sources.length === 0 || diagnostics.length === 0) return [];
  const names = await sourceNames(store);
  const others = names.filter((name) => !sources.includes(name));
  const clusters = await clustersOf(store, sources, others);
  return diagnostics.filter(({ origin: { file } }) => {
    if (file.startsWith("cluster ")) return clusters.some((cluster) => file.startsWith(`cluster ${cluster}, `));
    if (sources.some((name) => isOf(name, file))) return true;
    const isNamed = file === "" || file === "HEAD" || file.startsWith("source ");
    return sources.some((name) => name === primary) && !isNamed && !others.some((name) => isOf(name, file));
  });
}

/** Whether a place is named as those of a source are that is not the primary one. */
const isOf = (name: string, file: string): boolean =>
  isFileOf(name, file) || file === `source ${name}` || file.startsWith(`source ${name}, `);

/** Clusters that these sources are collected from, and no other one. */
async function clustersOf(
  store: ObjectStore,
  sources: readonly string[],
  others: readonly string[],
): Promise<readonly string[]> {
  const own = await clustersIn(store, sources);
  if (own.length === 0) return [];
  const theirs = new Set(await clustersIn(store, others));
  return own.filter((cluster) => !theirs.has(cluster));
}

async function clustersIn(store: ObjectStore, sources: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    sources.map((name) =>
      readHeadOf(store, name).catch((cause: unknown) => {
        if (cause instanceof PortolanError) return undefined;
        throw cause;
      }),
    ),
  );
  return found.flatMap((read) => (read?.head.about.kind === "kubernetes" ? [read.head.about.cluster] : []));
}
