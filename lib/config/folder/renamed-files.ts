import { clusterFile, isSettings, type SourceFile } from "./directory.ts";
import { isHalfSaved } from "./files/half-saved.ts";
import { readerOf } from "./files/read-file.ts";
import { folderPart } from "./folder-part.ts";
import {
  errorsIn,
  type FileState,
  type FilesByName,
  type FolderState,
  isHidden,
  unreadableFolders,
} from "./folder-state.ts";

/**
 * A folder as it was, under the names that its files have now: one that was half saved, refused or could not be read may be
 * renamed before it is mended. What a cluster's file said is said of the cluster that it names now. Settings have one name
 * each, and are taken out with it.
 *
 * @param previous itself where nothing is renamed
 */
export function withNewNames(previous: FolderState, files: readonly SourceFile[]): FolderState {
  const before = previous.files();
  const names = newNames(before, files);
  if (names.size === 0) return previous;
  const renamed = <T extends Pick<FileState, "text" | "read"> & Partial<Pick<FileState, "input">>>(
    file: string,
    state: T,
  ): T => {
    const name = names.get(file);
    if (name === undefined) return state;
    const read = readerOf(previous, before.get(name), { file: name, text: state.text }, false, state.input);
    return { ...state, read };
  };
  const now = new Map(Array.from(before, ([file, state]) => [names.get(file) ?? file, renamed(file, state)] as const));
  return {
    ...previous,
    parts: [folderPart([...now])],
    files: () => now,
    kept: previous.kept.map((form) => ({ ...renamed(form.file, form), file: names.get(form.file) ?? form.file })),
  };
}

/** Earlier names to later ones, of files of which it is beyond doubt. */
function newNames(previous: FilesByName, files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const there = new Set(files.map(({ file }) => file));
  const folders = unreadableFolders(files);
  const gone = [...previous].filter(
    ([file, state]) => !there.has(file) && isUnsettled(state) && !isHidden(file, folders),
  );
  const came = gone.length === 0 ? [] : files.filter(({ file }) => !previous.has(file));
  const found = gone.flatMap(([before, state]) => {
    const [after, another] = came.filter((one) => isRenamed(before, state, one));
    return after === undefined || another !== undefined ? [] : [{ before, after: after.file }];
  });
  const byName = Map.groupBy(found, ({ after }) => after);
  return new Map(
    [...byName.values()].flatMap(([one, another]) =>
      one === undefined || another !== undefined ? [] : [[one.before, one.after]],
    ),
  );
}

/** Whether a file was not served as it was written. */
const isUnsettled = ({ halfSaved, problem, read }: FileState): boolean =>
  halfSaved || problem !== undefined || errorsIn(read()).length > 0;

/** Whether a file that came is one that went: its text is, or is the beginning of what the other one held; or nobody can open either. */
function isRenamed(before: string, { text, halfSaved, problem }: FileState, now: SourceFile): boolean {
  if (isSettings(before) || isSettings(now.file) || clusterFile.test(before) !== clusterFile.test(now.file))
    return false;
  if (problem !== undefined || now.problem !== undefined) {
    return problem !== undefined && now.problem !== undefined && !before.endsWith("/") && !now.file.endsWith("/");
  }
  if (now.text.trim() === "") return false;
  return halfSaved ? isHalfSaved(text, now.text) : now.text === text;
}
