import { cutEvenly } from "../../base/cut-evenly.ts";
import type { TextChunk, TextChunkList } from "../compiled.ts";
import { memoizeChunks } from "../memoize/memoize-chunks.ts";

/** The runs of a long text in lists, as they are stored. Texts that have a list in common share it as an object. */
export const chunkListsOf = (runs: readonly TextChunk[]): readonly TextChunkList[] =>
  cutEvenly(runs, runsPerList(runs.length), byHash).map(listOf);

/** So many that neither the lists nor their names are long: a power of two, which seldom becomes another. */
const runsPerList = (runs: number): number => 2 ** Math.floor(Math.log2(Math.sqrt(runs)));
const byHash = { weight: () => 1, hash: ({ cutHash }: TextChunk) => cutHash };

/** So many variants of a list: in each of the namespaces whose services it names, the table has these in a form of its own. */
export const mostVariants = 32;

const listOf = memoizeChunks(
  (runs: readonly TextChunk[]): TextChunkList => ({
    runs,
    hashes: runs.map(({ hash }) => hash).join(),
    length: runs.reduce((sum, { text }) => sum + text.length, 0),
    sizeBytes: runs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    hasBinary: runs.every(({ binary }) => binary !== undefined),
  }),
  mostVariants,
);
