import { codeOf, isFileAbsent } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";

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

const noObject: ReadonlySet<unknown> = new Set(["ENOENT", "EISDIR", "ERR_FS_EISDIR", "ENOTDIR"]);

/** For a call about an object: this value where there is none. A folder under its key is none, and neither is what lies below a file. */
export function noObjectAs<T>(value: T): (cause: unknown) => T {
  return (cause) => {
    if (noObject.has(codeOf(cause))) return value;
    throw cause;
  };
}

/** For a call that makes a folder for objects, whose name a file may have. */
export function refuseFileThere(store: string, folder: string): (cause: unknown) => never {
  return (cause) => {
    if (codeOf(cause) !== "EEXIST" && codeOf(cause) !== "ENOTDIR") throw cause;
    throw new PortolanError(
      `file store ${store}: ${folder} cannot be a folder: it, or a parent of it, is a file`,
      [],
      cause,
    );
  };
}
