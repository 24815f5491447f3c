import { documentsOf, type LegacyIndex, type StoredDocument } from "../../legacy/compiled-legacy.ts";
import type { Chunk, ChunkList, Composition, CompositionPart } from "../../legacy/composition.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { fill, hasHoles } from "../../legacy/template.ts";
import { loadInOrder } from "../long/read-long.ts";

/** Reads blobs that documents name. */
export interface LegacyBlobs {
  /** A text as it stands in an index or a composition. */
  legacyText(hash: string): Promise<string>;
  /** A chunk. */
  legacyChunk(hash: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** A document whose length is known before it is read. */
export interface OpenedDocument {
  readonly bytes: number;
  /** So many of them lie in memory until it is sent. */
  readonly heldBytes: number;
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** A piece of a document: at hand, or a range of a chunk that is yet to be read. */
type Piece = Uint8Array<ArrayBuffer> | { readonly hash: string; readonly from: number; readonly to: number };

/**
 * Puts a document together. Chunks are read as they are asked for, but for those with holes: how long these are is known when they are
 * filled.
 *
 * @throws PortolanError when a blob is missing
 */
export async function openDocument({ ref, node }: StoredDocument, blobs: LegacyBlobs): Promise<OpenedDocument> {
  const pieces =
    ref.composition === undefined
      ? [await filled(await blobs.legacyText(ref.text), node)]
      : await composedPieces(await readComposition(ref.composition, blobs), node, blobs);
  const sumOf = (bytes: (piece: Piece) => number): number => pieces.reduce((sum, piece) => sum + bytes(piece), 0);
  return {
    bytes: sumOf((piece) => (piece instanceof Uint8Array ? piece.length : piece.to - piece.from)),
    heldBytes: sumOf((piece) => (piece instanceof Uint8Array ? piece.length : 0)),
    chunks: () =>
      loadInOrder(pieces, async (piece) =>
        piece instanceof Uint8Array ? piece : (await blobs.legacyChunk(piece.hash)).subarray(piece.from, piece.to),
      ),
  };
}

/** Every blob that an index names, and those that these name. @throws PortolanError when one that names others is missing */
export async function blobsOfIndex(index: LegacyIndex, blobs: LegacyBlobs): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const lists = new Set<string>();
  const compositions = new Set<string>();
  for (const { text, composition } of documentsOf(index)) {
    found.add(composition ?? text);
    if (composition !== undefined) compositions.add(composition);
  }
  for await (const text of loadInOrder([...compositions], blobs.legacyText)) {
    const { chunks }: Composition = JSON.parse(text);
    lists.add(chunks);
  }
  for await (const text of loadInOrder([...lists], blobs.legacyText)) {
    const { chunks }: ChunkList = JSON.parse(text);
    for (const chunk of chunks) found.add(chunk.text);
  }
  return new Set([...found, ...lists]);
}

interface ReadComposition {
  readonly parts: readonly CompositionPart[];
  readonly chunks: readonly Chunk[];
}

/** What is parsed here was written by the compiler: a blob's name vouches for its content. */
async function readComposition(hash: string, blobs: LegacyBlobs): Promise<ReadComposition> {
  const { chunks: list, parts }: Composition = JSON.parse(await blobs.legacyText(hash));
  const { chunks }: ChunkList = JSON.parse(await blobs.legacyText(list));
  return { parts, chunks };
}

async function composedPieces(
  { parts, chunks }: ReadComposition,
  node: NodeId | undefined,
  blobs: LegacyBlobs,
): Promise<readonly Piece[]> {
  const placed = placedChunks(chunks);
  const pieces = parts.map(async (part): Promise<readonly Piece[]> => {
    if (typeof part === "string") return [await filled(part, node)];
    return Promise.all(rangesIn(placed, part).map((range) => (range.holes === true ? filledRange(range) : range)));
  });
  return (await Promise.all(pieces)).flat();

  async function filledRange({ hash, from, to }: ChunkRange): Promise<Piece> {
    const bytes = (await blobs.legacyChunk(hash)).subarray(from, to);
    return filled(new TextDecoder().decode(bytes), node);
  }
}

async function filled(text: string, node: NodeId | undefined): Promise<Uint8Array<ArrayBuffer>> {
  return new TextEncoder().encode(node !== undefined && hasHoles(text) ? await fill(text, node) : text);
}

interface PlacedChunk extends Chunk {
  /** Of its first byte, in the text of all chunks. */
  readonly at: number;
}

function placedChunks(chunks: readonly Chunk[]): readonly PlacedChunk[] {
  let at = 0;
  return chunks.map((chunk) => {
    const placed = { ...chunk, at };
    at += chunk.bytes;
    return placed;
  });
}

interface ChunkRange {
  readonly hash: string;
  readonly from: number;
  readonly to: number;
  readonly holes: true | undefined;
}

/** What of each chunk a range of all of them covers. */
function rangesIn(chunks: readonly PlacedChunk[], [from, to]: readonly [number, number]): readonly ChunkRange[] {
  // The first chunk that does not end before the range: a document of many ranges is not to pass over all chunks for each.
  let [low, high] = [0, chunks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const chunk = chunks[middle];
    if (chunk !== undefined && chunk.at + chunk.bytes <= from) low = middle + 1;
    else high = middle;
  }
  const ranges: ChunkRange[] = [];
  for (let place = low; place < chunks.length; place += 1) {
    const chunk = chunks[place];
    if (chunk === undefined || chunk.at >= to) break;
    const end = Math.min(chunk.bytes, to - chunk.at);
    ranges.push({ hash: chunk.text, from: Math.max(0, from - chunk.at), to: end, holes: chunk.holes });
  }
  return ranges;
}
