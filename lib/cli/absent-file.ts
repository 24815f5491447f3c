import { codeOf, fileTrouble } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";

/**
 * For a call about a file or folder that may be absent: this value then. One that is there and cannot be read is not absent: what would be
 * done without it is something else than its owner means.
 *
 * @param hint what to do about one that is there and cannot be read; "" for nothing
 * @returns a handler that throws PortolanError for anything but an absent path
 */
export function whereAbsent<T>(path: string, value: T, hint = ""): (cause: unknown) => T {
  return (cause) => {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return value;
    throw new PortolanError(`cannot read ${path}: ${fileTrouble(cause)}${hint === "" ? "" : `; ${hint}`}`, [], cause);
  };
}
