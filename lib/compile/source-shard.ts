import { sha256 } from "../config/canonical-json.ts";
import { PortolanError } from "../config/diagnostic.ts";
import type { SourceFile } from "../config/folder/directory.ts";
import {
  type FolderFile,
  type FolderTexts,
  folderOf,
  hasErrors,
  type KeptText,
  readAgain,
  textsOf,
} from "../config/folder/last-valid.ts";
import { secretsInFiles } from "../config/secrets/secrets-in-files.ts";
import { rescue } from "../snapshot/upkeep/gc-ledger.ts";
import { inParallel } from "../storage/in-parallel.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { readHeadOf } from "./collected/collected-shard.ts";
import { originText, readShardHead } from "./collected/shard-head.ts";
import { holdObjects, refuseEmpty } from "./refuse-empty.ts";
import { listText, readList, type ShardEntry, type ShardList } from "./shard-list.ts";

/** One source of input as it lies in the store: its texts, each under its own hash, and their list, which changes at once. */
export interface SourceShard {
  readonly name: string;
  /** Hash of the list: equal texts, equal version. */
  readonly version: string;
  readonly files: readonly ShardFile[];
  /** Last valid forms of what the files refuse; absent where there are none. */
  readonly kept?: readonly KeptText[];
  /** Somebody has said that the source may hold nothing. */
  readonly isMeantEmpty?: boolean;
}

export interface ShardFile extends FolderFile {
  /** Written by `apply`, object by object; the others are a folder's. */
  readonly applied?: boolean;
}

export interface WriteOptions {
  /** What the files replace: what `apply` wrote before, or what a folder held; a folder's when absent. */
  readonly part?: "applied" | "folder";
  /** Whether a file may be under way to be saved; false when absent. */
  readonly halfSaves?: boolean;
  /** Whether the source may come to hold nothing. Absent: nobody has asked. */
  readonly allowEmpty?: boolean;
  /** Which folder is followed, for whoever does; absent: none is, and whoever writes the folder's part now is nobody's rival. */
  readonly origin?: string;
  /** Whether a source that is filled from another folder is taken; false when absent. */
  readonly takeOver?: boolean;
  /** The store itself keeps from being collected what a writer finds in place. */
  readonly storeRescues?: boolean;
}

const listKey = (name: string) => `sources/${encodeKeyPart(name)}/list`;
/** The same list, kept for as long as somebody may ask where an object of an earlier version stood. */
const versionKey = (name: string, version: string) => `sources/${encodeKeyPart(name)}/versions/${version}`;
const fileKey = (name: string, hash: string) => `sources/${encodeKeyPart(name)}/files/${hash}`;
const utf8 = (text: string) => new TextEncoder().encode(text);
const emptyList: ShardList = { hasParts: true, files: [], kept: [], isMeantEmpty: false };

/**
 * Replaces one part of what a source says. What an object said last is kept while its new form is refused. Texts first, then
 * their list, so that a reader sees the old list or the new one; of several writers each starts from what the other wrote.
 *
 * @returns the version that a reader will see
 * @throws PortolanError, with nothing changed, where a collector fills the source, or one follows another folder into it, or where it would come to hold nothing and that
 * is not allowed; and with diagnostics where a file holds a secret
 */
export async function writeShard(
  store: ObjectStore,
  name: string,
  files: readonly SourceFile[],
  options: WriteOptions = {},
): Promise<string> {
  refuseSecrets(name, files);
  for (;;) {
    const found = await store.get(listKey(name));
    if (found.kind === "absent") await refuseCollected(store, name);
    // What cannot be read is replaced: a folder brings everything that it has to say.
    const before = found.kind === "found" ? readList(new TextDecoder().decode(found.bytes)) : undefined;
    refuseOtherFolder(name, before, options);
    const next = await nextList(store, name, before ?? emptyList, files, options);
    if (options.allowEmpty === false) refuseEmpty(files, next);
    const list = listText(next);
    const version = sha256(list);
    const texts = new Map(files.map(({ text }) => [fileKey(name, sha256(text)), text]));
    const settle = await writeTexts(store, texts.set(versionKey(name, version), list), options.storeRescues === true);
    const condition = found.kind === "found" ? { ifMatch: found.etag } : ({ ifNoneMatch: "*" } as const);
    if ((await store.put(listKey(name), utf8(list), condition)).kind === "lost") continue;
    await settle();
    return version;
  }
}

/** @throws PortolanError where a collector fills the source: it would go on writing what nobody reads any more */
export async function refuseCollected(store: ObjectStore, name: string): Promise<void> {
  const found = await readHeadOf(store, name);
  // Where both have written, as releases before let them, the list is what is read.
  if (found === undefined || (await store.get(listKey(name))).kind === "found") return;
  throw new PortolanError(
    `source ${name} is filled by a collector, from ${originText(found.head)}, and a source has one writer; ` +
      "it was left as it was: write to a source of your own, with --source",
  );
}

function refuseOtherFolder(
  name: string,
  before: Pick<ShardList, "origin"> | undefined,
  { origin, takeOver = false }: WriteOptions,
): void {
  if (origin === undefined || takeOver || before?.origin === undefined || before.origin === origin) return;
  throw new PortolanError(
    `source ${name} is filled from ${before.origin}, and this is ${origin}; give this one a source of its own, or say --take-over`,
  );
}

async function nextList(
  store: ObjectStore,
  name: string,
  before: ShardList,
  files: readonly SourceFile[],
  { part = "folder", halfSaves = false, allowEmpty = false, origin: follows }: WriteOptions,
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
  const ours = files.map(({ file, text, problem }) => ({
    file,
    hash: sha256(text),
    applied,
    halfSaved: false,
    ...(problem === undefined ? {} : { problem }),
  }));
  const changed = files.filter(({ file }, i) => hashes.get(file) !== ours[i]?.hash);
  const mayRefuse = before.files.length > 0 && (halfSaves || changed.some(hasErrors));
  if (before.kept.length === 0 && !mayRefuse) return { files: [...ours, ...others], kept: [], isMeantEmpty, origin };

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

/** Before there were parts, `apply` wrote its objects like a folder's files: `VirtualService/shop/a.yaml`. */
const isOfOldApply = ({ file, applied }: ShardEntry) => !applied && /^[A-Z]\w*\/[^/]*\/[^/]+\.yaml$/.test(file);

/** What was applied is told from a folder's files by its name, also in messages. */
const nameOf = ({ file, applied }: Pick<ShardFile, "file" | "applied">) =>
  applied === true ? `applied:${file}` : file;

/** What earlier lists name. A text that is gone or damaged has nothing to keep. */
async function loadTexts(store: ObjectStore, name: string, list: ShardList): Promise<(hash: string) => string> {
  const hashes = new Set([...list.files, ...list.kept].map(({ hash }) => hash));
  const texts = new Map(
    await inParallel(hashes, async (hash) => [hash, (await readText(store, name, hash)) ?? ""] as const),
  );
  return (hash) => texts.get(hash) ?? "";
}

/** @returns undefined when it is not there, or is not what was written */
async function readText(store: ObjectStore, name: string, hash: string): Promise<string | undefined> {
  const found = await store.get(fileKey(name, hash));
  const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : undefined;
  return text !== undefined && sha256(text) === hash ? text : undefined;
}

/**
 * Writes what is not in place whole. What is, is kept from being collected.
 *
 * @returns to be called when something names the texts: writes again what was collected until then
 */
export async function writeTexts(
  store: ObjectStore,
  texts: ReadonlyMap<string, string>,
  storeRescues: boolean,
): Promise<() => Promise<void>> {
  const found = new Set<string>();
  await inParallel(texts, async ([key, text]) => {
    const put = await store.put(key, utf8(text), { ifNoneMatch: "*" });
    if (put.kind === "stored") return;
    found.add(key);
    const there = await store.get(key);
    if (there.kind !== "found" || new TextDecoder().decode(there.bytes) !== text) await store.put(key, utf8(text));
  });
  const settle = settlingOf(
    store,
    storeRescues ? new Map() : new Map([...found].map((key) => [key, texts.get(key) ?? ""])),
  );
  await settle();
  return settle;
}

/** By itself, so that what is waited with until the end holds none of the texts that were new: a first push has thousands. */
const settlingOf = (store: ObjectStore, inPlace: ReadonlyMap<string, string>) => async (): Promise<void> => {
  if (inPlace.size === 0) return;
  const gone = await rescue(store, new Set(inPlace.keys()));
  await inParallel(gone, (key) => store.put(key, utf8(inPlace.get(key) ?? ""), { ifNoneMatch: "*" }));
};

/** Sources lie in the store in clear text, and whoever reads it reads them. */
export function refuseSecrets(name: string, files: readonly SourceFile[]): void {
  const secrets = secretsInFiles(files);
  if (secrets.length > 0)
    throw new PortolanError(`source ${name} was left as it was: there are secrets in what it would hold`, secrets);
}

/**
 * Reads a source as it is now, or as it was in a version.
 *
 * @param known texts by hash that need not be read again
 * @returns undefined when the source was never filled, or is a collector's
 * @throws PortolanError when what lies there is no list of files, or a text is missing or damaged
 */
export async function readShard(
  store: ObjectStore,
  name: string,
  version?: string,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<SourceShard | undefined> {
  const found = await store.get(version === undefined ? listKey(name) : versionKey(name, version));
  if (found.kind !== "found") return undefined;
  const text = new TextDecoder().decode(found.bytes);
  const list = readList(text);
  if (list === undefined && version !== undefined && readShardHead(text) !== undefined) return undefined;
  if (list === undefined) throw new PortolanError(`source ${name} is no list of files`);
  const load = async (file: string, hash: string) => {
    const content = known.get(hash) ?? (await readText(store, name, hash));
    if (content === undefined) throw new PortolanError(`source ${name} lacks the content of ${file}; fill it again`);
    return content;
  };
  const files = await inParallel(list.files, async ({ file, hash, applied, halfSaved, problem }) => ({
    file,
    text: await load(file, hash),
    ...(applied ? { applied } : {}),
    ...(halfSaved ? { halfSaved } : {}),
    ...(problem === undefined ? {} : { problem }),
  }));
  const kept = await inParallel(list.kept, async ({ key, file, hash }) => ({
    key,
    file,
    text: await load(file, hash),
  }));
  return {
    name,
    version: sha256(text),
    files,
    ...(kept.length === 0 ? {} : { kept }),
    ...(list.isMeantEmpty ? { isMeantEmpty: true } : {}),
  };
}

/** A source as the compiler reads it. */
export function textsOfShard({ files, kept = [] }: Pick<SourceShard, "files" | "kept">): FolderTexts {
  return { files: files.map((file) => ({ ...file, file: nameOf(file) })), kept };
}
