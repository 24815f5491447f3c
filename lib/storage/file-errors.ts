/** What the system says of a call that failed, such as `ENOENT`. */
export const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined);

/** For a call that makes what may be there. */
export function thereAlready(cause: unknown): void {
  if (codeOf(cause) !== "EEXIST") throw cause;
}

/** For a call that takes a name: false where somebody has it. */
export function takenAsFalse(cause: unknown): false {
  thereAlready(cause);
  return false;
}

/** For a call about what may be absent: this value then. */
export function absentAs<T>(value: T): (cause: unknown) => T {
  return (cause) => {
    if (codeOf(cause) === "ENOENT") return value;
    throw cause;
  };
}
