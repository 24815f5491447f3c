/** The newest generation of HEAD that was believed. With keys that are trusted nothing older is followed: a rollback is a newer HEAD. */
export interface BelievedGenerations {
  /** 0 before any was believed. */
  newest(): number;
  believed(generation: number): void;
  /** What an operator does who has put an older HEAD back, or has made the store anew; for messages. */
  readonly remedy: string;
}

/** As long as this process lives. */
export function memoryGenerations(): BelievedGenerations {
  let newest = 0;
  return {
    newest: () => newest,
    believed(generation) {
      newest = Math.max(newest, generation);
    },
    remedy: "restart this front",
  };
}
