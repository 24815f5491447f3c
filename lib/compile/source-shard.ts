import { createHash } from "node:crypto";
import { byCodePoint, PortolanError } from "../config/diagnostic.ts";
import type { SourceFile } from "../config/directory.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";

/** One source of input as it lies in the store: its files, each under its own hash, and their list, which changes at once. */
export interface SourceShard {
  readonly name: string;
  /** Hash of the list: equal files, equal version. */
  readonly version: string;
  readonly files: readonly SourceFile[];
}

interface ShardList {
  readonly files: readonly { readonly file: string; readonly hash: string }[];
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const listKey = (name: string) => `sources/${encodeKeyPart(name)}/list`;
/** The same list, kept for as long as somebody may ask where an object of an earlier version stood. */
const versionKey = (name: string, version: string) => `sources/${encodeKeyPart(name)}/versions/${version}`;
const fileKey = (name: string, hash: string) => `sources/${encodeKeyPart(name)}/files/${hash}`;
const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * Replaces what a source says. Files first, then their list, so that a reader sees the old list or the new one.
 *
 * @returns the version that a reader will see
 */
export async function writeShard(store: ObjectStore, name: string, files: readonly SourceFile[]): Promise<string> {
  const entries = files
    .map(({ file, text }) => ({ file, hash: hashOf(text), text }))
    .sort((a, b) => byCodePoint(a.file, b.file));
  await Promise.all(entries.map(({ hash, text }) => store.put(fileKey(name, hash), utf8(text), { ifNoneMatch: "*" })));
  const list = JSON.stringify({ files: entries.map(({ file, hash }) => ({ file, hash })) } satisfies ShardList);
  const version = hashOf(list);
  await store.put(versionKey(name, version), utf8(list), { ifNoneMatch: "*" });
  await store.put(listKey(name), utf8(list));
  return version;
}

/**
 * Reads a source as it is now, or as it was in a version.
 *
 * @returns undefined when the source was never filled
 * @throws PortolanError when what lies there is no list of files, or a file is missing
 */
export async function readShard(store: ObjectStore, name: string, version?: string): Promise<SourceShard | undefined> {
  const found = await store.get(version === undefined ? listKey(name) : versionKey(name, version));
  if (found.kind !== "found") return undefined;
  const text = new TextDecoder().decode(found.bytes);
  const list = readList(text);
  if (list === undefined) throw new PortolanError(`source ${name} is no list of files`);
  const files = await Promise.all(
    list.files.map(async ({ file, hash }) => {
      const object = await store.get(fileKey(name, hash));
      if (object.kind !== "found") throw new PortolanError(`source ${name} lacks the content of ${file}`);
      return { file, text: new TextDecoder().decode(object.bytes) };
    }),
  );
  return { name, version: hashOf(text), files };
}

/** The primary's files as they are, those of the others below a folder of their source's name. */
export function filesOf(shards: readonly SourceShard[]): readonly SourceFile[] {
  return shards.flatMap(({ name, files }, i) =>
    files.map(({ file, text }) => ({ file: i === 0 ? file : `${name}/${file}`, text })),
  );
}

function readList(text: string): ShardList | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof json !== "object" || json === null || !("files" in json) || !Array.isArray(json.files)) return undefined;
  const files = json.files.filter(isEntry);
  return files.length === json.files.length ? { files } : undefined;
}

function isEntry(value: unknown): value is ShardList["files"][number] {
  return (
    typeof value === "object" &&
    value !== null &&
    "file" in value &&
    typeof value.file === "string" &&
    "hash" in value &&
    typeof value.hash === "string" &&
    /^[0-9a-f]{64}$/.test(value.hash)
  );
}
