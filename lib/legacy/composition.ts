/** The blobs that a long answer of the v1 API is put together from. @see docs/decisions/071-v1-chunks.md */

/** A blob: a document as parts, one after the other. */
export interface Composition {
  /** Blob of the `ChunkList` that ranges count in. */
  readonly chunks: string;
  readonly parts: readonly CompositionPart[];
}

/** A text of the document's own, or a range of the chunks: the first byte, and the one behind the last, in UTF-8. */
export type CompositionPart = string | readonly [from: number, to: number];

/** A blob: a text that many documents have most of, cut between elements. */
export interface ChunkList {
  readonly chunks: readonly Chunk[];
}

export interface Chunk {
  /** Blob of its text. */
  readonly text: string;
  /** Of the text in UTF-8, before its holes are filled. */
  readonly bytes: number;
  /** Whether it has holes for what is a node's own; absent: it has none. */
  readonly holes?: true;
}
