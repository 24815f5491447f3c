import { beforeCopies, keptInForce } from "./copies.ts";
import { clusterFile } from "./directory.ts";
import {
  errorsIn,
  type FileState,
  type FilesByName,
  type FolderState,
  isUnreadable,
  isWhole,
  type KeptState,
  keysIn,
  type ReadFile,
  refusedKeys,
} from "./folder-state.ts";
import { createHoldings } from "./holdings.ts";
import { createMayHold } from "./may-hold.ts";

/** The last valid forms of what is refused now. */
export function keptAfter(previous: FolderState, now: ReadonlyMap<string, FileState>): readonly KeptState[] {
  if (previous.kept.length === 0 && !mayLose(previous.files(), now)) return [];

  const holdings = createHoldings(now);
  const { refused, unreadable } = refusalsIn(now);
  const before = previous.kept.length === 0 ? noRefusals : refusalsIn(previous.files());
  const isKept = new Set(previous.kept);
  // One that is kept already may have been refused elsewhere than where it was valid, or stand where nobody can read it.
  const elsewhere = new Set([...before.unreadable].filter((file) => !isWhole(file)));
  const stoodIn = ({ key, file }: KeptState): ReadonlySet<string> =>
    before.refused.get(key) ?? (before.unreadable.has(file) ? new Set([file]) : elsewhere);
  const mayStand = (form: KeptState): boolean =>
    unreadable.has(form.file) || (isKept.has(form) && [...stoodIn(form)].some((file) => unreadable.has(file)));
  const changed = new Set([...unreadable].filter((file) => isChanged(previous.files().get(file), now.get(file))));
  // It may have been moved, or its file renamed, to where nobody can read it: now, or earlier, if nothing else was why it is kept.
  const mayHold = createMayHold(now);
  const hadMoved = (form: KeptState): boolean =>
    isKept.has(form) && !before.refused.has(form.key) && !before.unreadable.has(form.file);
  const mayHaveMoved = (form: KeptState): boolean =>
    form.key !== "" && [...(hadMoved(form) ? unreadable : changed)].some((file) => mayHold(file, form));
  const isBeforeCopies = beforeCopies(previous, holdings);
  const isLost = (form: KeptState): boolean => refused.has(form.key) || mayStand(form) || mayHaveMoved(form);
  return earlierForms(previous, now)
    .filter((form) => (holdings.filesOf(form.key).length > 0 ? isBeforeCopies(form) : isLost(form)))
    .sort((a, b) => (a.key === b.key ? compare(a.file, b.file) : compare(a.key, b.key)));
}

const isChanged = (before: FileState | undefined, now: FileState | undefined): boolean =>
  before?.text !== now?.text || before?.problem !== now?.problem;

interface Refusals {
  /** Key of an object to the files that hold a form of it that is refused. */
  readonly refused: ReadonlyMap<string, ReadonlySet<string>>;
  /** Files of which it is not known what they hold. */
  readonly unreadable: ReadonlySet<string>;
}

const noRefusals: Refusals = { refused: new Map(), unreadable: new Set() };

function refusalsIn(files: ReadonlyMap<string, FileState>): Refusals {
  const refused = new Map<string, Set<string>>();
  const unreadable = new Set<string>();
  for (const [file, state] of files) {
    const errors = errorsIn(state.read());
    if (isUnreadable(state) || (isWhole(file) && errors.length > 0)) unreadable.add(file);
    // Objects of another cluster are other ones. What stands in a file of settings is refused there.
    const named = clusterFile.test(file) ? [] : errors.filter(({ origin }) => origin.key.kind !== "");
    for (const key of named.flatMap(refusedKeys)) refused.set(key, (refused.get(key) ?? new Set()).add(file));
  }
  return { refused, unreadable };
}

/** Whether an object may be refused now that was valid. */
function mayLose(before: FilesByName, now: FilesByName): boolean {
  if (before.size === 0) return false;
  const changed = [...now].filter(([file, state]) => isChanged(before.get(file), state));
  const came = changed.map(([, { read }]) => read());
  if (holdErrors(came) || changed.some(([, { problem }]) => problem !== undefined)) return true;
  const gone = [...before].filter(([file, { text }]) => now.get(file)?.text !== text).map(([, { read }]) => read());
  return keysLost(gone, came).length > 0 && holdErrors([...now.values()].map(({ read }) => read()));
}

export const holdErrors = (files: readonly ReadFile[]): boolean => files.some((file) => errorsIn(file).length > 0);

/** Objects of texts that went, or were others, which none of those that came holds: an error elsewhere may be what is left of them. */
export function keysLost(gone: readonly ReadFile[], came: readonly ReadFile[]): readonly string[] {
  const left = new Set(came.flatMap(keysIn));
  return gone.flatMap(keysIn).filter((key) => !left.has(key));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What the state before had in a valid form, and may have no more: one for each key. */
function earlierForms(previous: FolderState, now: ReadonlyMap<string, FileState>): readonly KeptState[] {
  const gone = [...previous.files()].filter(([file, { text }]) => now.get(file)?.text !== text);
  const forms = gone.flatMap(([file, { text, read }]) => {
    if (isWhole(file)) return errorsIn(read()).length === 0 ? [{ key: "", file, text, read }] : [];
    return keysIn(read()).map((key) => ({ key, file, text, read }));
  });
  const byKey = new Map(
    [...forms, ...keptInForce(previous.kept, previous.files())].map((form) => [
      `${form.key}\n${form.key === "" ? form.file : ""}`,
      form,
    ]),
  );
  return [...byKey.values()];
}
