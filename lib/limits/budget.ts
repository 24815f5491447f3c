/** So many bytes, for whoever takes them first. */
export interface Budget {
  /** @returns false when there is not so much left */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createBudget(totalBytes: number): Budget {
  let left = totalBytes;
  return {
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
