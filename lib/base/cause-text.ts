/** What is to be said of whatever was thrown: its message, if it is an error. */
export const causeText = (cause: unknown): string =>
  cause instanceof Error && cause.message !== "" ? cause.message : String(cause);

/** Why `fetch` failed: it says nothing itself, and its cause does. */
export const fetchTrouble = (cause: unknown): string =>
  causeText(cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause);

/** What the system says of a call that failed, such as `ENOENT`. */
export const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined);

/** Whether a file is not there, as opposed to one that is there and cannot be read. */
export const isFileAbsent = (cause: unknown): boolean => codeOf(cause) === "ENOENT";

/** What systems say of files, in words for people; what they name stands beside it. */
const fileReasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of its path is a file, and no folder",
  EISDIR: "it is a folder, and a file is wanted",
  EACCES: "this process may not read it",
  EPERM: "this process may not read it",
  ELOOP: "it is a link to itself",
};

/** Why a file that somebody has named cannot be read. */
export function fileTrouble(cause: unknown): string {
  return fileReasons[String(codeOf(cause))] ?? causeText(cause);
}

/** Of a text that may have several. */
export const firstLine = (text: string): string => text.split(/\r?\n/, 1)[0] ?? "";
