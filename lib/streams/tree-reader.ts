import type { SnapshotReader } from "../snapshot/reader/snapshot-reader.ts";

/** Reads the segments of trees: out of a store, or out of memory. */
export type TreeReader = Pick<SnapshotReader, "entries" | "binaries">;
