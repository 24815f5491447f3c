/**
 * What may be written over HTTP of the objects that a compile reads. A source's secret is good for that source alone, so nothing that it can
 * write may keep a compile from reading the others.
 */

import { type Diagnostic, fileOrigin, PortolanError } from "../../base/diagnostic.ts";
import { sha256 } from "../../config/canonical-json.ts";
import { readNode } from "../../config-store/ledger/merkle-tree.ts";
import { limits } from "../../limits/limits.ts";
import { isWithin } from "../../snapshot/free-text.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readStateText } from "../collected/shard-state.ts";
import { checkHead, checkList, type SourceChange } from "../shards/check-source.ts";
import { isSourcePart } from "../shards/source-parts.ts";
import { textIn } from "../shards/source-shard.ts";
import { UnreadableSource } from "../shards/unreadable-source.ts";

/** An object below `sources/<name>/`. */
export interface SourceObject {
  readonly source: string;
  /** Its whole key. */
  readonly key: string;
  /** Its key from the folder of the source on: `list`, `files/<hash>`. */
  readonly part: string;
}

/** Folders whose objects are named by the hashes of their texts. */
const hashed: ReadonlySet<string> = new Set(["files", "nodes", "versions"]);

/** More than a collector ever says. */
const maxStateBytes = 16_384;

/** Whether a compile reads it, now or when it looks at what a source held before. The garbage collector deletes what is no longer named. */
export const isRead = ({ part }: SourceObject): boolean => {
  const [kind = "", name] = part.split("/");
  if (!isSourcePart(part)) return false;
  return name === undefined ? kind === "list" || kind === "head" : hashed.has(kind);
};

/**
 * Lets a write pass that leaves its source readable.
 *
 * @throws PortolanError with a diagnostic where it does not
 */
export async function checkWrite(
  store: ObjectStore,
  { source: name, key, part }: SourceObject,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const text = new TextDecoder().decode(bytes);
  const [kind = "", hash] = part.split("/");
  if (kind === "ledger") return checkLedger(name, part, bytes);
  if (hash === undefined && (kind === "list" || kind === "head")) {
    const now = await store.get(key);
    const before = now.kind === "found" ? new TextDecoder().decode(now.bytes) : undefined;
    const change = { name, text, before };
    const checked = kind === "list" ? checkBoundedList(store, change) : checkBoundedHead(store, change);
    await checked.catch((cause: unknown) => {
      throw cause instanceof UnreadableSource ? refused(name, `${kind}: ${cause.message}`) : cause;
    });
  }
  if (hash === undefined && kind === "state" && (bytes.length > maxStateBytes || readStateText(text) === undefined))
    throw refused(name, "state: not a collector's sign of life, or a long one");
  if (hash === undefined || !hashed.has(kind)) return;
  if (sha256(kind === "files" ? textIn(bytes) : text) !== hash)
    throw refused(name, `${part.slice(0, 200)}: the text does not have the hash that it is named by`);
  if (kind === "nodes" && readNode(text) === undefined)
    throw refused(name, `${part.slice(0, 200)}: not a node of what a collector has written`);
}

/** The ledger is read by `apply` alone: what it names by a hash is that text. */
function checkLedger(source: string, part: string, bytes: Uint8Array): void {
  const [, , hash] = part.split("/");
  if (hash !== undefined && sha256(textIn(bytes)) !== hash)
    throw refused(source, `${part}: the text does not have the hash that it is named by`);
}

async function checkBoundedList(store: ObjectStore, change: SourceChange): Promise<void> {
  const { files, kept, origin = "" } = await checkList(store, change);
  const names = [
    origin,
    ...files.flatMap(({ file, problem = "" }) => [file, problem]),
    ...kept.flatMap(({ file, key }) => [file, key]),
  ];
  // Names are part of messages, and of what is compiled.
  if (names.some((name) => !isWithin(name, limits.nameBytes)))
    throw new UnreadableSource(`source ${change.name} has a name of more than ${limits.nameBytes} bytes`);
}

/** The name of a cluster and what tells an origin from others. */
const maxHeadBytes = 2 * limits.nameBytes;

async function checkBoundedHead(store: ObjectStore, change: SourceChange): Promise<void> {
  if (!isWithin(change.text, maxHeadBytes))
    throw new UnreadableSource(`source ${change.name} has a head of more than ${maxHeadBytes} bytes`);
  await checkHead(store, change);
}

function refused(source: string, what: string): PortolanError {
  const diagnostic: Diagnostic = {
    code: "unreadable-source",
    severity: "error",
    origin: fileOrigin(source),
    path: [],
    message: `${what}; the write is refused, and the source stays as it is`,
    hint: "write the texts first and then the list that names them, as `portolan push` and `portolan collect` do",
  };
  return new PortolanError(`source ${source} could not be read after this write, which is refused: ${what}`, [
    diagnostic,
  ]);
}
