import type { Limits } from "./limits.ts";

/** What is beyond `ownBytes` of all bodies being read: a few large ones cannot take the memory of all others. */
export interface BodyPool {
  /** Part of a body that is not counted here: the number of connections bounds it. */
  readonly ownBytes: number;
  /** @returns false when there is not so much left */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createBodyPool({ ownBodyBytes, bodiesBytes }: Pick<Limits, "ownBodyBytes" | "bodiesBytes">): BodyPool {
  let left = bodiesBytes;
  return {
    ownBytes: ownBodyBytes,
    take(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    give(bytes) {
      left += bytes;
    },
  };
}
