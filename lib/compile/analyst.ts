import { createAnalysis } from "../analysis/remembered-analysis.ts";
import { causeText } from "../base/cause-text.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { isSecret } from "../config/secrets/secret-objects.ts";
import { readAnalysis, writeAnalysis, writeNotAnalyzed } from "../snapshot/analysis-record.ts";
import { createSnapshotReader } from "../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type FilesCompiled, worldContent } from "./compile-files.ts";
import { createShardsReader } from "./read-shards.ts";
import { createSourcesReader } from "./shards/read-sources.ts";
import { sourceBytes } from "./slices/source-versions.ts";
import { settleSettings, worldOptionsOf } from "./world/recorded-settings.ts";
import { defaultWorldOptions, type WorldOptions } from "./world/world-of.ts";

type Loaded = FilesCompiled["loaded"];

/**
 * Sources may hold no Secret at all, since `portolan secret apply` puts secrets into a place of their own, which no compile reads. Then
 * nothing is known of the credentials that gateways name.
 */
export const isAbout = ({ objects }: Loaded): ((message: Diagnostic) => boolean) =>
  objects.some(isSecret) ? () => true : ({ code, path }) => code !== "IST0101" || path.at(-1) !== "credentialName";

/** Writes the messages about a world beside its root, unless they are there. @throws PortolanError when the store fails */
export async function recordAnalysis(
  store: Pick<ObjectStore, "get" | "put">,
  root: string,
  loaded: Loaded,
  messagesOf: () => readonly Diagnostic[],
): Promise<void> {
  // A root names the versions of all sources, so the messages of one root never change.
  if ((await readAnalysis(store, root))?.kind === "analyzed") return;
  await writeAnalysis(store, root, messagesOf().filter(isAbout(loaded)));
}

/** Has the analysers look at what was published, once nothing waits for it any more. */
export interface Analyst {
  /** @param loaded undefined: the process that compiled does not hold the world, which is read again */
  take(root: string, loaded: Loaded | undefined): void;
  /**
   * Analyses what was taken last and writes the messages beside its root, or why they are not known.
   *
   * @throws PortolanError when the store fails
   */
  record(): Promise<void>;
}

export interface AnalystOptions {
  /** As it was given to the compiler; the usual one when absent. */
  readonly world?: WorldOptions | undefined;
  /** A world is read again where its sources have at most so many bytes; absent: however many they have. */
  readonly mostBytes?: number | undefined;
}

/** Remembers between calls what did not change, as compilers do, where the process that compiled holds the world. */
export function createAnalyst(
  store: ObjectStore,
  { world = defaultWorldOptions, mostBytes }: AnalystOptions = {},
): Analyst {
  let taken: { readonly root: string; readonly loaded: Loaded | undefined } | undefined;
  let analyze: ReturnType<typeof createAnalysis> | undefined;
  let recorded: string | undefined;

  async function recordHeld(root: string, loaded: Loaded): Promise<void> {
    analyze ??= createAnalysis();
    const analyzeHeld = analyze;
    await recordAnalysis(store, root, loaded, () => analyzeHeld(loaded));
  }

  async function recordRead(root: string): Promise<void> {
    if ((await readAnalysis(store, root)) !== undefined) return;
    if (mostBytes !== undefined) {
      const bytes = await sourceBytes(store, mostBytes);
      if (bytes > mostBytes)
        return writeNotAnalyzed(
          store,
          root,
          `the sources have ${mib(bytes)} MiB, and what compiled this version has room to analyze ${mib(mostBytes)}`,
        );
    }
    // Stays where memory or time runs out, which ends this process.
    await writeNotAnalyzed(store, root, "they are running now, or the process ran out of memory or time in them");
    try {
      const loaded = await contentOfRoot(store, root, world);
      await recordAnalysis(store, root, loaded, () => createAnalysis()(loaded));
    } catch (cause) {
      await writeNotAnalyzed(store, root, causeText(cause));
      throw cause;
    }
  }

  return {
    take(root, loaded) {
      taken = { root, loaded };
      // Where there is no room for the world, there is none for what is remembered of it.
      if (loaded === undefined) analyze = undefined;
    },
    async record() {
      if (taken === undefined) return;
      const { root, loaded } = taken;
      taken = undefined;
      if (recorded === root) return;
      await (loaded === undefined ? recordRead(root) : recordHeld(root, loaded));
      recorded = root;
    },
  };
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/** What the sources of a root hold. */
async function contentOfRoot(store: ObjectStore, root: string, world: WorldOptions): Promise<Loaded> {
  const { sources } = (await createSnapshotReader(store).root(root)).root;
  const settings = await settleSettings(store, {});
  const shards = await createSourcesReader(store)(
    sources.map(({ name }) => name),
    sources,
  );
  const { content, consul, clusterId } = createShardsReader(worldOptionsOf(settings, world))(shards);
  return worldContent(content, consul, clusterId);
}
