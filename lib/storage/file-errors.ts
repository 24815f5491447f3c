import { codeOf, isFileAbsent } from "../config/cause-text.ts";

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
    if (isFileAbsent(cause)) return value;
    throw cause;
  };
}
