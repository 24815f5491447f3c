import { sha256 } from "../../config/canonical-json.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { folderOf, hasErrors, isHalfSaved, readAgain, textsOf } from "../../config/folder/last-valid.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { holdObjects } from "./refuse-empty.ts";
import type { ShardEntry, ShardList } from "./shard-list.ts";
import { nameOf, readText } from "./source-shard.ts";

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
  /** Which folder is followed, for whoever does; absent: none is, and whoever writes the folder's part now is nobody's rival. */
  readonly origin?: string;
}

/** Of a source that was never filled. */
export const emptyList: ShardList = { hasParts: true, files: [], kept: [], isMeantEmpty: false };

/** What a source consists of once one part of it is replaced. @returns with the last valid forms of what is refused */
export async function nextList(
  store: ObjectStore,
  name: string,
  before: ShardList,
  files: readonly HashedFile[],
  { part = "folder", halfSaves = false, allowEmpty = false, origin: follows }: ListOptions,
): Promise<Omit<ShardList, "hasParts">> {
  const applied = part === "applied";
  const origin = applied ? before.origin : follows;
  const others = before.files.filter(
    (entry) => entry.applied !== applied && !(applied && !before.hasParts && isOfOldApply(entry)),
  );
  const isMeantEmpty = allowEmpty && others.length === 0 && !holdObjects(files);
  const hashes = new Map(
    before.files.filter((entry) => entry.applied === applied).map(({ file, hash }) => [file, hash]),
  );
  const ours = files.map(({ file, hash, problem }) => ({
    file,
    hash,
    applied,
    halfSaved: false,
    ...(problem === undefined ? {} : { problem }),
  }));
  const changed = files.filter(({ file, hash }) => hashes.get(file) !== hash);
  const mayKeep =
    before.kept.length > 0 ||
    (before.files.length > 0 && changed.some(hasErrors)) ||
    (halfSaves && (await areHalfSaved(store, name, changed, hashes)));
  if (!mayKeep) return { files: [...ours, ...others], kept: [], isMeantEmpty, origin };

  const textOf = await loadTexts(store, name, before);
  const folder = folderOf({
    files: before.files.map((entry) => ({ file: nameOf(entry), text: textOf(entry.hash), halfSaved: entry.halfSaved })),
    kept: before.kept.map(({ key, file, hash }) => ({ key, file, text: textOf(hash) })),
  });
  const now = [
    ...files.map((file) => ({ ...file, file: nameOf({ ...file, applied }) })),
    ...others.map((entry) => ({ file: nameOf(entry), text: textOf(entry.hash) })),
  ];
  const texts = textsOf(readAgain(folder, now, { halfSaves }));
  const read = new Map(texts.files.map((file) => [file.file, file]));
  return {
    files: [...ours, ...others].map((entry) => {
      const { text, halfSaved = false } = read.get(nameOf(entry)) ?? { text: "" };
      return { ...entry, hash: sha256(text), halfSaved };
    }),
    kept: texts.kept.map(({ key, file, text }) => ({ key, file, hash: sha256(text) })),
    isMeantEmpty,
    origin,
  };
}

/** Whether any file cannot be read, or is under way to be saved. @param hashes of the texts before */
async function areHalfSaved(
  store: ObjectStore,
  name: string,
  files: readonly HashedFile[],
  hashes: ReadonlyMap<string, string>,
): Promise<boolean> {
  const halves = await inParallel(files, async ({ file, text, problem }) => {
    const hash = hashes.get(file);
    if (hash === undefined) return false;
    return problem !== undefined || isHalfSaved((await readText(store, name, hash)) ?? "", text);
  });
  return halves.includes(true);
}

/** Before there were parts, `apply` wrote its objects like a folder's files: `VirtualService/shop/a.yaml`. */
const isOfOldApply = ({ file, applied }: ShardEntry) => !applied && /^[A-Z]\w*\/[^/]*\/[^/]+\.yaml$/.test(file);

/** What earlier lists name. A text that is gone or damaged has nothing to keep. */
async function loadTexts(store: ObjectStore, name: string, list: ShardList): Promise<(hash: string) => string> {
  const hashes = new Set([...list.files, ...list.kept].map(({ hash }) => hash));
  const texts = new Map(
    await inParallel(hashes, async (hash) => [hash, (await readText(store, name, hash)) ?? ""] as const),
  );
  return (hash) => texts.get(hash) ?? "";
}
