import { type Diagnostic, keyText, type Origin } from "../../base/diagnostic.ts";
import { readShard } from "../../compile/shards/read-shard.ts";
import { readSource } from "../../compile/shards/read-source.ts";
import { isCollected, type ShardContent } from "../../compile/shards/shard.ts";
import { textsOfShard } from "../../compile/shards/source-shard.ts";
import { readFiles } from "../../config/folder/directory.ts";
import { newestRoot, readHead } from "../../snapshot/head/head.ts";
import { readHistory } from "../../snapshot/head/history/history.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { versionOf } from "./served-version.ts";

/** What is known of an object that came with a folder, besides its text. */
export interface FolderObject {
  /** Where it stands, `reviews.yaml:3`. */
  readonly at: string;
  /** What the newest compile said of it. */
  readonly findings: readonly Diagnostic[];
  readonly history: readonly FolderForm[];
}

/** A form that an object had when something was published, newest first. */
export interface FolderForm {
  readonly generation: number;
  /** RFC 3339. */
  readonly at: string;
  readonly change: "came" | "changed" | "went";
  /** Where it stood; "" where it went. */
  readonly place: string;
  readonly by?: string;
}

/** The object of a key in a source that a folder fills. */
export async function folderObject(
  store: ObjectStore,
  source: string,
  key: string,
  publications: number,
): Promise<FolderObject | undefined> {
  const own = formIn(await readSource(store, source), key);
  if (own === undefined) return undefined;
  const read = await readHead(store);
  if (read === undefined) return { at: own.place, findings: [], history: [] };
  const reader = createSnapshotReader(store);
  return {
    at: own.place,
    findings: await findingsOf(reader, newestRoot(read.head), key),
    history: await formsOf(store, reader, read.head.publication, { source, key, publications }),
  };
}

/** What the newest compile said of an object; nothing where nothing was published. */
export async function publishedFindings(store: ObjectStore, key: string): Promise<readonly Diagnostic[]> {
  const read = await readHead(store);
  return read === undefined ? [] : findingsOf(createSnapshotReader(store), newestRoot(read.head), key);
}

interface Form {
  readonly place: string;
  readonly text: string;
}

/** An object as a shard's files have it. */
function formIn(shard: ShardContent | undefined, key: string): Form | undefined {
  if (shard === undefined || isCollected(shard)) return undefined;
  const name = key.slice(key.lastIndexOf("/") + 1);
  // Whatever has its name in it may hold it.
  const files = textsOfShard(shard).files.filter(({ text }) => text.includes(name));
  const { configs, objects, others } = readFiles(files);
  const isMeant = ({ origin }: { readonly origin: Origin }) => keyText(origin.key) === key;
  const found = [...configs, ...objects, ...others].find(isMeant);
  if (found === undefined) return undefined;
  const { origin, ...content } = found;
  return { place: origin.line > 0 ? `${origin.file}:${origin.line}` : origin.file, text: JSON.stringify(content) };
}

async function findingsOf(reader: SnapshotReader, root: string, key: string): Promise<readonly Diagnostic[]> {
  const text = await reader.textIfWhole(root);
  if (text === undefined) return [];
  const { diagnostics }: { readonly diagnostics: string } = JSON.parse(text);
  const all: readonly Diagnostic[] = JSON.parse((await reader.textIfWhole(diagnostics)) ?? "[]");
  return all.filter(({ origin }) => keyText(origin.key) === key);
}

interface Sought {
  readonly source: string;
  readonly key: string;
  readonly publications: number;
}

/** How an object has changed from publication to publication, as far as the store keeps what its folder held then. */
async function formsOf(
  store: ObjectStore,
  reader: SnapshotReader,
  publication: string,
  { source, key, publications }: Sought,
): Promise<readonly FolderForm[]> {
  const known = new Map<string, Form | undefined>();
  const forms: (Omit<FolderForm, "change"> & { readonly text: string | undefined })[] = [];
  for await (const { generation, at, by, root } of readHistory(reader, publication)) {
    if (forms.length === publications) break;
    const text = await reader.textIfWhole(root);
    if (text === undefined) break;
    const version = versionOf(JSON.parse(text).sources, source, key);
    if (version !== undefined && !known.has(version)) {
      const shard = await readShard(store, source, version);
      // What the folder held then is kept no more.
      if (shard === undefined) break;
      known.set(version, formIn(shard, key));
    }
    const form = version === undefined ? undefined : known.get(version);
    const who = by === undefined ? {} : { by };
    forms.push({ generation, at, ...who, text: form?.text, place: form?.place ?? "" });
  }
  return forms.flatMap(({ text, ...form }, i): readonly FolderForm[] => {
    const before = forms[i + 1];
    if (before === undefined ? text === undefined : text === before.text) return [];
    const change = text === undefined ? "went" : before?.text === undefined ? "came" : "changed";
    return [{ ...form, change }];
  });
}
