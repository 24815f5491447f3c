import { sha256 } from "../../../config/canonical-json.ts";
import type { SourceFile } from "../../../config/folder/directory.ts";
import { isHalfSaved } from "../../../config/folder/files/half-saved.ts";
import { isHidden, unreadableFolders } from "../../../config/folder/folder-state.ts";
import { holdErrors, keysLost } from "../../../config/folder/kept-forms.ts";
import { folderOf, readAgain, readAlone, textsOf } from "../../../config/folder/last-valid.ts";
import { nameIn, unescaped } from "../../../config/folder/may-hold.ts";
import { inParallel } from "../../../storage/in-parallel.ts";
import type { ObjectStore } from "../../../storage/object-store.ts";
import { holdObjects } from "../refuse-empty.ts";
import { nameOf, readText, type TextsByHash } from "../source-shard.ts";
import { pairUp } from "./pair-up.ts";
import type { ShardEntry, ShardList } from "./shard-list.ts";

/** A file with the hash of its text. */
export interface HashedFile extends SourceFile {
  readonly hash: string;
}

/** How a part is replaced. */
export interface ListOptions {
  /** What the files replace: what `apply` wrote before, or what a folder held; a folder's when absent. */
  readonly part?: "applied" | "folder";
  /** Whether a file may be under way to be saved; false when absent. */
  readonly halfSaves?: boolean;
  /** Whether the source may come to hold nothing. Absent: nobody has asked. */
  readonly allowEmpty?: boolean;
  /** Texts that need not be read from the store, by their hashes; none when absent. */
  readonly known?: TextsByHash;
  /** Which folder is followed, for whoever does; absent: none is, and whoever writes the folder's part now is nobody's rival. */
  readonly origin?: string;
}

/** Of a source that was never filled. */
export const emptyList: ShardList = { hasParts: true, files: [], kept: [], isMeantEmpty: false };

/**
 * What a source consists of once one part of it is replaced. What an entry says as before is the same object.
 *
 * @param given in the order of their names
 * @returns with the last valid forms of what is refused
 */
export async function nextList(
  store: ObjectStore,
  name: string,
  before: ShardList,
  given: readonly HashedFile[],
  { part = "folder", halfSaves = false, allowEmpty = false, known = new Map(), origin: follows }: ListOptions,
): Promise<Omit<ShardList, "hasParts">> {
  const applied = part === "applied";
  const textOf = async (hash: string): Promise<string> => known.get(hash) ?? (await readText(store, name, hash)) ?? "";
  const origin = applied ? before.origin : follows;
  const others = before.files.filter(
    (entry) => entry.applied !== applied && !(applied && !before.hasParts && isOfOldApply(entry)),
  );
  const ofPart = before.files.filter((entry) => entry.applied === applied);
  const { entries, gone } = pairUp(given, ofPart);
  const folders = unreadableFolders(given);
  const hidden = gone.filter(({ file }) => isHidden(file, folders));
  const stay = await inParallel(hidden, async ({ file, hash }) => ({ file, hash, text: await textOf(hash) }));
  const files: readonly HashedFile[] = stay.length === 0 ? given : [...given, ...stay];
  const isMeantEmpty = allowEmpty && others.length === 0 && !holdObjects(files);
  const ours = [
    ...given.map((file, at) => entryOf(file, applied, entries[at])),
    ...stay.map((file) => entryOf(file, applied, undefined)),
  ];
  const changed = given.flatMap((file, at): readonly ChangedFile[] => {
    const entry = entries[at];
    return entry?.hash === file.hash ? [] : [{ file, before: entry }];
  });
  const went = gone.filter((entry) => !hidden.includes(entry));
  const mayKeep =
    before.kept.length > 0 ||
    gone.some(({ halfSaved, problem }) => halfSaved || problem !== undefined) ||
    (halfSaves && (await areHalfSaved(changed, textOf))) ||
    (before.files.length > 0 && (await mayLose({ files, changed, went, others }, textOf)));
  if (!mayKeep) return { files: [...ours, ...others], kept: [], isMeantEmpty, origin };

  const text = await loadTexts(before, textOf);
  const folder = folderOf({
    files: before.files.map((entry) => ({ ...entry, file: nameOf(entry), text: text(entry.hash) })),
    kept: before.kept.map(({ key, file, hash }) => ({ key, file, text: text(hash) })),
  });
  const now = [
    ...files.map((file) => ({ ...file, file: nameOf({ ...file, applied }) })),
    ...others.map((entry) => ({ file: nameOf(entry), text: text(entry.hash) })),
  ];
  const texts = textsOf(readAgain(folder, now, { halfSaves }));
  const read = new Map(texts.files.map((file) => [file.file, file]));
  return {
    files: [...ours, ...others].map((entry) => {
      const { text, halfSaved = false } = read.get(nameOf(entry)) ?? { text: "" };
      const hash = sha256(text);
      return entry.hash === hash && entry.halfSaved === halfSaved ? entry : { ...entry, hash, halfSaved };
    }),
    kept: texts.kept.map(({ key, file, text }) => ({ key, file, hash: sha256(text) })),
    isMeantEmpty,
    origin,
  };
}

/** @param before of the same name */
function entryOf({ file, hash, problem }: HashedFile, applied: boolean, before: ShardEntry | undefined): ShardEntry {
  if (before?.hash === hash && !before.halfSaved && before.problem === problem) return before;
  return { file, hash, applied, halfSaved: false, ...(problem === undefined ? {} : { problem }) };
}

type TextOf = (hash: string) => Promise<string>;

/** A file that has another text than before, or was not there. */
interface ChangedFile {
  readonly file: HashedFile;
  readonly before: ShardEntry | undefined;
}

interface Replaced {
  readonly files: readonly HashedFile[];
  readonly changed: readonly ChangedFile[];
  /** What the part has no more. */
  readonly went: readonly ShardEntry[];
  /** Of the other part, which stays. */
  readonly others: readonly ShardEntry[];
}

/** Whether an object may be refused now that was valid. Of what stays only files are read that name one that went. */
async function mayLose({ files, changed, went, others }: Replaced, textOf: TextOf): Promise<boolean> {
  const came = changed.map(({ file }) => readAlone(file));
  if (holdErrors(came) || changed.some(({ file }) => file.problem !== undefined)) return true;
  const replaced = changed.map(({ before }) => before).filter((entry) => entry !== undefined);
  const gone = await inParallel([...replaced, ...went], async ({ file, hash }) =>
    readAlone({ file, text: await textOf(hash) }),
  );
  const names = keysLost(gone, came).map((key) => nameIn({ key }));
  if (names.length === 0) return false;
  const stays = await inParallel(others, async (entry) => ({ file: nameOf(entry), text: await textOf(entry.hash) }));
  const naming = [...files, ...stays].filter(({ text }) => {
    const searched = unescaped(text);
    return names.some((one) => searched.includes(one));
  });
  return holdErrors(naming.map(readAlone));
}

/** Whether any file cannot be read, or is under way to be saved. */
async function areHalfSaved(changed: readonly ChangedFile[], textOf: TextOf): Promise<boolean> {
  const halves = await inParallel(changed, async ({ file: { text, problem }, before }) => {
    if (before === undefined) return false;
    return problem !== undefined || isHalfSaved(await textOf(before.hash), text);
  });
  return halves.includes(true);
}

/** Before there were parts, `apply` wrote its objects like a folder's files: `VirtualService/shop/a.yaml`. */
const isOfOldApply = ({ file, applied }: ShardEntry) => !applied && /^[A-Z]\w*\/[^/]*\/[^/]+\.yaml$/.test(file);

/** What earlier lists name. A text that is gone or damaged has nothing to keep. */
async function loadTexts(list: ShardList, textOf: TextOf): Promise<(hash: string) => string> {
  const hashes = new Set([...list.files, ...list.kept].map(({ hash }) => hash));
  const texts = new Map(await inParallel(hashes, async (hash) => [hash, await textOf(hash)] as const));
  return (hash) => texts.get(hash) ?? "";
}
