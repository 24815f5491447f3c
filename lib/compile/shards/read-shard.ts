import { sha256 } from "../../config/canonical-json.ts";
import type { FolderFile } from "../../config/folder/folder-state.ts";
import { joinLists } from "../../config/join-lists.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readShardHead } from "../collected/shard-head.ts";
import { openRun } from "./lists/open-list.ts";
import { type KeptEntry, readList, type ShardEntry } from "./lists/shard-list.ts";
import { createSpend, refuseLarge, type Spend, sourceBounds } from "./source-bounds.ts";
import {
  asNamed,
  lacksRun,
  listKey,
  notAList,
  readText,
  type ShardFile,
  type SourceShard,
  type TextsByHash,
  versionKey,
} from "./source-shard.ts";
import { UnreadableSource } from "./unreadable-source.ts";
import { versionText } from "./version-text.ts";

/** A source as it was read, for the next reading: what did not change since is not read again, and is the same object. */
export interface ReadShard {
  readonly shard: SourceShard;
  readonly listText: string;
  readonly runs: readonly FileRun[];
  readonly kept: readonly KeptEntry[];
}

/** Files that stand next to each other, by the hash of their run; all of them, under "", where the list is stored whole. */
interface FileRun {
  readonly hash: string;
  readonly entries: readonly ShardEntry[];
  /** In the order of the entries. */
  readonly files: readonly ShardFile[];
  readonly named: readonly FolderFile[];
}

/** What need not be read. */
export interface KnownTexts {
  /** Texts that lie in the store, from whoever puts them there in this process. */
  readonly written: TextsByHash;
  /** The source as it was read last. */
  readonly before: ReadShard | undefined;
}

/**
 * Reads a source as it is now, or as it was in a version.
 *
 * @returns undefined when the source was never filled, or is a collector's
 * @throws UnreadableSource when what lies there is no list of files, or a text is missing or damaged
 */
export async function readShard(store: ObjectStore, name: string, version?: string): Promise<SourceShard | undefined> {
  const read = await readShardAgain(store, name, version, { written: new Map(), before: undefined });
  return read?.shard;
}

/** The same, for a reader that goes on. */
export async function readShardAgain(
  store: ObjectStore,
  name: string,
  version: string | undefined,
  known: KnownTexts,
): Promise<ReadShard | undefined> {
  const keys = { present: listKey(name), kept: versionKey(name, version ?? "") };
  const textNow = async (): Promise<string | undefined> => {
    const found = version === undefined ? await store.get(keys.present) : await versionText(store, keys, version);
    return found?.kind === "found" ? new TextDecoder().decode(found.bytes) : undefined;
  };
  for (let text = await textNow(); ; ) {
    if (text === undefined) return undefined;
    try {
      return await readListed(store, name, { version, text }, known);
    } catch (cause) {
      // What a list named that was replaced meanwhile may have been collected: then the new one counts.
      const now = await textNow();
      if (now === text) throw cause;
      text = now;
    }
  }
}

interface ListText {
  readonly version: string | undefined;
  readonly text: string;
}

async function readListed(
  store: ObjectStore,
  name: string,
  { version, text }: ListText,
  { written, before }: KnownTexts,
): Promise<ReadShard | undefined> {
  if (text === before?.listText) return before;
  const list = readList(text);
  if (list === undefined && version !== undefined && readShardHead(text) !== undefined) return undefined;
  if (list === undefined) throw new UnreadableSource(notAList(name));

  const spend = createSpend(name, sourceBounds);
  const known = new Map(before?.runs.map((run) => [run.hash, run]));
  const named: readonly NamedRun[] =
    "files" in list
      ? [{ hash: "", entries: list.files }]
      : await inParallel(
          list.runs,
          async (hash) => known.get(hash) ?? (await readNamedRun(store, name, hash, { written, spend })),
        );
  const came = named.filter((run) => !isRead(run));
  const earlier = earlierFiles(before, new Set(named));
  const texts = await textsOfEntries([...came.flatMap(({ entries }) => entries), ...list.kept], {
    known: (hash) => earlier.get(hash)?.text ?? written.get(hash),
    read: async (hash) => {
      const text = await readText(store, name, hash);
      await spend(0, text?.length ?? 0);
      return text;
    },
    lacking: (file) => new UnreadableSource(`source ${name} lacks the content of ${file}; fill it again`),
  });
  const textOf = (hash: string): string => texts.get(hash) ?? "";
  const runs = named.map((run): FileRun => {
    if (isRead(run)) return run;
    const files = run.entries.map((entry) => fileOf(entry, textOf(entry.hash), earlier.get(entry.hash)));
    return { ...run, files, named: asNamed(files) };
  });
  const kept = list.kept.map(({ key, file, hash }) => ({ key, file, text: textOf(hash) }));
  refuseLargeFiles(name, [...runs.map(({ files }) => files), kept]);
  const shard: SourceShard = {
    name,
    version: sha256(text),
    files: joinLists(runs.map(({ files }) => files)),
    ...("runs" in list ? { runs: runs.map((run) => run.named) } : {}),
    ...(kept.length === 0 ? {} : { kept }),
    ...(list.isMeantEmpty ? { isMeantEmpty: true } : {}),
  };
  return { shard, listText: text, runs, kept: list.kept };
}

/** One text may be that of many files, each of which is parsed. */
function refuseLargeFiles(name: string, lists: readonly (readonly { readonly text: string }[])[]): void {
  let [count, bytes] = [0, 0];
  for (const files of lists) {
    count += files.length;
    for (const { text } of files) bytes += text.length;
  }
  refuseLarge(name, count, bytes, sourceBounds);
}

type NamedRun = FileRun | Pick<FileRun, "hash" | "entries">;

const isRead = (run: NamedRun): run is FileRun => "files" in run;

async function readNamedRun(
  store: ObjectStore,
  name: string,
  hash: string,
  { written, spend }: { readonly written: TextsByHash; readonly spend: Spend },
): Promise<NamedRun> {
  const run = await openRun(hash, async () => written.get(hash) ?? (await readText(store, name, hash)));
  if (run === undefined) throw new UnreadableSource(lacksRun(name));
  await spend(run.entries.length, run.text.length);
  return { hash, entries: run.entries };
}

/** What was read of a source and stands in it no more, by the hashes of texts: of a run that changed most is what it was. */
function earlierFiles(before: ReadShard | undefined, now: ReadonlySet<NamedRun>): ReadonlyMap<string, ShardFile> {
  if (before === undefined) return new Map();
  const gone = before.runs.filter((run) => !now.has(run));
  const kept = before.shard.kept ?? [];
  return new Map([
    ...before.kept.map(({ hash }, at) => [hash, { file: "", text: kept[at]?.text ?? "" }] as const),
    ...gone.flatMap(({ entries, files }) => files.map((file, at) => [entries[at]?.hash ?? "", file] as const)),
  ]);
}

/** Where texts come from. */
interface TextSource {
  readonly known: (hash: string) => string | undefined;
  readonly read: (hash: string) => Promise<string | undefined>;
  readonly lacking: (file: string) => Error;
}

async function textsOfEntries(
  entries: readonly Pick<ShardEntry, "file" | "hash">[],
  { known, read, lacking }: TextSource,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const unknown = new Map<string, string>();
  for (const { file, hash } of entries) {
    const text = known(hash);
    if (text === undefined) unknown.set(hash, file);
    else texts.set(hash, text);
  }
  await inParallel(unknown, async ([hash, file]) => {
    const text = await read(hash);
    if (text === undefined) throw lacking(file);
    texts.set(hash, text);
  });
  return texts;
}

/** @param earlier one with the same text */
function fileOf(
  { file, applied, halfSaved, problem }: ShardEntry,
  text: string,
  earlier: ShardFile | undefined,
): ShardFile {
  const isSame =
    earlier?.file === file &&
    (earlier.applied ?? false) === applied &&
    (earlier.halfSaved ?? false) === halfSaved &&
    earlier.problem === problem;
  if (isSame) return earlier;
  return {
    file,
    text,
    ...(applied ? { applied } : {}),
    ...(halfSaved ? { halfSaved } : {}),
    ...(problem === undefined ? {} : { problem }),
  };
}
