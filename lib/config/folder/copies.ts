import type { FolderState, KeptState } from "./folder-state.ts";
import { createHoldings } from "./holdings.ts";

type Files = FolderState["files"];

/**
 * The kept forms that count: those of which no file has a valid copy, and those whose own file is broken. What that one said
 * last goes before copies elsewhere: nobody has asked for them.
 */
export function keptInForce(kept: readonly KeptState[], files: Files): readonly KeptState[] {
  if (kept.length === 0) return kept;
  const holdings = createHoldings(files);
  return kept.filter(({ key, file }) => holdings.filesOf(key).length === 0 || holdings.isBroken(file, key));
}

/** Of forms that have a valid copy now, whether one goes before the copy. */
export function beforeCopies(previous: FolderState, now: Files): (form: KeptState) => boolean {
  const isKept = new Set(previous.kept);
  const [before, after] = [createHoldings(previous.files), createHoldings(now)];
  // Of several copies the last one counted.
  const counted = ({ key, file }: KeptState): boolean => before.filesOf(key).at(-1) === file;
  return (form) => {
    if (!after.isBroken(form.file, form.key) || !(isKept.has(form) || counted(form))) return false;
    const known = new Set(before.copiesOf(form));
    return after.copiesOf(form).every((copy) => known.has(copy));
  };
}
