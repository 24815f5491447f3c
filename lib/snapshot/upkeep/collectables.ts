import { analysisFolder } from "../analysis-record.ts";
import { headCopyKeys, headCopyPrefix, keptCopies } from "../head/head-copy.ts";
import { packIndexKey, packKey, packsFolder, readPackIndex } from "../packs/pack-index.ts";
import type { Collectable } from "./collect-garbage.ts";

/** What lies beside the blobs of a snapshot, and is collected with them. */
export const collectables: readonly Collectable[] = [
  {
    // Deliveries that were seen: longer than any forge delivers one again.
    prefix: "hooks/",
    minAgeMs: 7 * 24 * 3_600_000,
    stays: async () => () => false,
  },
  {
    // What fronts say of their nodes, which nobody reads that is older than a day.
    prefix: "status/",
    minAgeMs: 24 * 3_600_000,
    stays: async () => () => false,
  },
  {
    // What nodes have said of a switch, for other fronts: of use for seconds.
    prefix: "confirmed/",
    minAgeMs: 24 * 3_600_000,
    stays: async () => () => false,
  },
  {
    // What came of slices of a compile: of use until it is published, and to whoever compiles the same sources soon after.
    prefix: "compile/slices/",
    minAgeMs: 24 * 3_600_000,
    stays: async () => () => false,
  },
  {
    prefix: analysisFolder,
    stays:
      async ({ blobs }) =>
      (key) =>
        blobs.has(key.slice(analysisFolder.length)),
  },
  {
    prefix: packsFolder,
    async stays(_kept, store) {
      const { packs } = await readPackIndex(store);
      const listed = new Set([packIndexKey, ...packs.map(({ name }) => packKey(name))]);
      return (key) => listed.has(key);
    },
  },
  {
    prefix: headCopyPrefix,
    async stays(_kept, store) {
      const newest = new Set((await headCopyKeys(store)).slice(0, keptCopies));
      return (key) => newest.has(key);
    },
  },
];
