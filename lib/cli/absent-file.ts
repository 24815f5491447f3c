import { fileTrouble } from "../config/cause-text.ts";
import { PortolanError } from "../config/diagnostic.ts";
import { codeOf } from "../storage/file-errors.ts";

/**
 * For a call about a file or folder that may be absent: this value then. One that is there and cannot be read is not absent: what would be
 * done without it is something else than its owner means.
 *
 * @returns a handler that throws PortolanError for anything but an absent path
 */
export function whereAbsent<T>(path: string, value: T): (cause: unknown) => T {
  return (cause) => {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return value;
    throw new PortolanError(`cannot read ${path}: ${fileTrouble(cause)}`, [], cause);
  };
}
