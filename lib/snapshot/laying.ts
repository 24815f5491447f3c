import type { Blob } from "./blob.ts";

/** Writes blobs of a world while the rest of it is being made. Nothing names them until the world is published. */
export interface Laying {
  /** Returns at once. */
  lay(blobs: readonly Blob[]): void;
  /** Nothing more comes. Resolves when all is done, and never rejects: what could not be written was not laid. */
  end(): Promise<Laid>;
}

/** What was not in the store, and is now. */
export interface Laid {
  /** Hashes of the blobs. */
  readonly blobs: ReadonlySet<string>;
  readonly bytes: number;
}
