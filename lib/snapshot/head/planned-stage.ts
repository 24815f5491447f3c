import type { CompiledWorld } from "../compiled.ts";

/**
 * By `conditionKey`, the versions of clusters that will do, sorted; none where a version says too little, and everybody waits for the
 * time. Whose class is not named has all that it needs.
 */
export type Conditions = ReadonlyMap<string, readonly string[]>;

/** A world to serve, from a time on. */
export interface PlannedStage {
  readonly world: CompiledWorld;
  readonly atMs: number;
  /** Who need not wait for the time; absent: everybody waits. */
  readonly conditions?: Conditions | undefined;
}
