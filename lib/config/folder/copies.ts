import {
  errorsIn,
  type FileState,
  type FolderState,
  isUnreadable,
  type KeptState,
  type KeptText,
  keyOf,
  keysIn,
  refusedKeys,
} from "./folder-state.ts";

type Files = FolderState["files"];

/**
 * The kept forms that count: those of which no file has a valid copy, and those whose own file is broken. What that one said
 * last goes before copies elsewhere: nobody has asked for them.
 */
export function keptInForce(kept: readonly KeptState[], files: Files): readonly KeptState[] {
  if (kept.length === 0) return kept;
  const valid = new Set([...files.values()].flatMap(({ read }) => keysIn(read())));
  return kept.filter((form) => !valid.has(form.key) || isBroken(files.get(form.file), form));
}

/** Of forms that have a valid copy now, whether one goes before the copy. */
export function beforeCopies(previous: FolderState, now: Files): (form: KeptState) => boolean {
  const isKept = new Set(previous.kept);
  let lastFiles: ReadonlyMap<string, string> | undefined;
  // Of several copies the last one counted.
  function counted({ key, file }: KeptState): boolean {
    lastFiles ??= new Map(
      [...previous.files].flatMap(([one, { read }]) => keysIn(read()).map((found) => [found, one])),
    );
    return lastFiles.get(key) === file;
  }
  return (form) => {
    if (!isBroken(now.get(form.file), form) || !(isKept.has(form) || counted(form))) return false;
    const known = new Set(copiesOf(previous.files, form));
    return copiesOf(now, form).every((copy) => known.has(copy));
  };
}

/** Whether a file refuses an object, or cannot be read, and has no valid form of it besides. */
function isBroken(state: FileState | undefined, { key }: Pick<KeptText, "key">): boolean {
  if (state === undefined || keysIn(state.read()).includes(key)) return false;
  return isUnreadable(state) || errorsIn(state.read()).some((error) => refusedKeys(error).includes(key));
}

/** What other files than its own say of an object, wherever it stands in them. */
const copiesOf = (files: Files, { key, file }: KeptState): readonly string[] =>
  [...files].flatMap(([one, { read }]) => {
    if (one === file || !keysIn(read()).includes(key)) return [];
    const found = [...read().configs, ...read().objects].filter((object) => keyOf(object) === key);
    return found.map((object) => JSON.stringify({ ...object, origin: undefined }));
  });
