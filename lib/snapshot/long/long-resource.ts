import { concatBytes, hashOf } from "../../base/blob.ts";
import { nameHash } from "../../base/name-hash.ts";
import { utf8Length } from "../../base/utf8-length.ts";
import type { CompiledResource, TextChunk, TextChunkList } from "../compiled.ts";
import { chunkListsOf } from "./chunk-lists.ts";
import { versionOfChunks } from "./cut-chunks.ts";

/** A resource that has runs. */
export type Long = CompiledResource & { readonly runLists: readonly TextChunkList[] };

export const hasChunks = (resource: CompiledResource | undefined): resource is Long => resource?.runLists !== undefined;

/** A resource that is held in runs: its text and its binary form are put together for whoever asks, and held by nobody. */
export function longResource({ name, from, runs }: LongParts): CompiledResource {
  const runLists = chunkListsOf(runs);
  const text = {
    name,
    version: versionOfChunks(runLists.map(({ hashes }) => hashes)),
    from,
    runLists,
    get text() {
      return runs.map((run) => run.text).join("");
    },
  };
  if (!runLists.every(({ hasBinary }) => hasBinary)) return text;
  const binary = () => concatBytes(runs.flatMap((run) => run.binary?.bytes ?? []));
  return Object.defineProperty(text, "binary", { get: binary, enumerable: true });
}

interface LongParts {
  readonly name: string;
  readonly from: readonly string[];
  readonly runs: readonly TextChunk[];
}

/** @param binary of the same elements */
export function textChunk(text: string, binary?: Uint8Array<ArrayBuffer>): TextChunk {
  const hash = hashOf(text);
  const run = { hash, text, sizeBytes: utf8Length(text), cutHash: nameHash(hash) };
  return binary === undefined ? run : { ...run, binary: { hash: hashOf(binary), bytes: binary } };
}

/** The texts that a resource's own consists of, one after the other; no element of it lies in two of them. */
export const textsOf = (resource: CompiledResource): readonly string[] =>
  resource.runLists === undefined ? [resource.text] : runsIn(resource).map(({ text }) => text);

/** The runs of a long resource; none of a short one. */
export const runsIn = ({ runLists = [] }: CompiledResource): readonly TextChunk[] =>
  runLists.flatMap(({ runs }) => runs);

/** In UTF-16 code units, as texts count. */
export const textLength = (resource: CompiledResource): number =>
  resource.runLists?.reduce((sum, { length }) => sum + length, 0) ?? resource.text.length;
