import type { FanOut } from "../../compile/slices/fan-out.ts";
import type { Slicing } from "../../compile/slices/slice-settings.ts";
import { createSliceThreads, type SliceThreadsOptions } from "./slice-threads.ts";

/** Undefined where everything is compiled in this thread. */
export function sliceThreadsFor(
  { workers, slices, memoryMib }: Slicing,
  store: Pick<SliceThreadsOptions, "where" | "s3Endpoint" | "build" | "onTrouble">,
): Omit<FanOut, "waitMs"> | undefined {
  if (slices === 1) return undefined;
  // This thread is one of them, unless slices are cut to fit into what a thread has.
  const compilesToo = slices === workers && memoryMib === undefined;
  const { dispatch } = createSliceThreads({ ...store, threads: compilesToo ? workers - 1 : workers, memoryMib });
  return { dispatch, most: slices, compilesToo, onTrouble: store.onTrouble };
}
