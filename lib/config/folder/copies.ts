import type { FilesByName, FolderState, KeptState } from "./folder-state.ts";
import { createHoldings, type Holdings } from "./holdings.ts";

/**
 * The kept forms that count: those of which no file has a valid copy, and those whose own file is broken. What that one said
 * last goes before copies elsewhere: nobody has asked for them.
 */
export function keptInForce(kept: readonly KeptState[], files: FilesByName): readonly KeptState[] {
  if (kept.length === 0) return kept;
  const holdings = createHoldings(files);
  return kept.filter(({ key, file }) => holdings.filesOf(key).length === 0 || holdings.isBroken(file, key));
}

/** Of forms that have a valid copy now, whether one goes before the copy. @param after which files hold what now */
export function beforeCopies(previous: FolderState, after: Holdings): (form: KeptState) => boolean {
  const isKept = new Set(previous.kept);
  const before = createHoldings(previous.files());
  // Of several copies the last one counted.
  const counted = ({ key, file }: KeptState): boolean => before.filesOf(key).at(-1) === file;
  return (form) => {
    if (!after.isBroken(form.file, form.key) || !(isKept.has(form) || counted(form))) return false;
    const known = new Set(before.copiesOf(form));
    return after.copiesOf(form).every((copy) => known.has(copy));
  };
}
