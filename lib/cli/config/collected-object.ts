import type { Diagnostic } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf } from "../../base/untyped.ts";
import { nodesOf, readHeadOf } from "../../compile/collected/collected-shard.ts";
import { readCollected } from "../../compile/collected/read-collected.ts";
import { originText } from "../../compile/collected/shard-head.ts";
import { sourceNames } from "../../compile/shards/source-names.ts";
import { findInTree } from "../../config-store/ledger/merkle-tree.ts";
import { splitEntry } from "../../registry/origin/packed-object.ts";
import { readHead } from "../../snapshot/head/head.ts";
import { readHistory } from "../../snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { versionOf } from "./served-version.ts";

/** An object as a collector has brought it, valid or not. */
export interface CollectedObject {
  readonly source: string;
  /** What its source mirrors: `the cluster Kubernetes`. */
  readonly from: string;
  /** The origin's own version of it, such as a resourceVersion; "" where it has none. */
  readonly version: string;
  readonly object: Fields;
  /** What validation says of it; with an error in it, it is refused. */
  readonly findings: readonly Diagnostic[];
}

/** Forms that an object had when something was published, newest first. */
export interface PublishedForm {
  readonly generation: number;
  /** RFC 3339. */
  readonly at: string;
  readonly change: "came" | "changed" | "went";
  /** As `CollectedObject` has it; "" where it went. */
  readonly version: string;
}

/** The object of a key, read by one path of its source's tree. @param source this one only; absent: the first that has it */
export async function collectedObject(
  objects: ObjectStore,
  key: string,
  source: string | undefined,
): Promise<CollectedObject | undefined> {
  for (const name of source === undefined ? await sourceNames(objects) : [source]) {
    const head = (await readHeadOf(objects, name))?.head;
    const entry = head && (await findInTree(nodesOf(objects, name), head.root, key));
    if (head === undefined || entry === undefined) continue;
    const { version, json } = splitEntry(entry);
    const object = fieldsOf(JSON.parse(json));
    const { diagnostics } = readCollected({ about: head.about, name }, { key, object, version });
    return { source: name, from: originText(head), version, object, findings: diagnostics };
  }
  return undefined;
}

/** How an object of a source has changed from publication to publication, as far as the store keeps what was collected then. */
export async function publishedForms(
  objects: ObjectStore,
  source: string,
  key: string,
  publications: number,
): Promise<readonly PublishedForm[]> {
  const read = await readHead(objects);
  if (read === undefined) return [];
  const reader = createSnapshotReader(objects);
  const nodes = nodesOf(objects, source);
  const forms: (Omit<PublishedForm, "change"> & { readonly entry: string | undefined })[] = [];
  let left = publications;
  for await (const { generation, at, root: hash } of readHistory(reader, read.head.publication)) {
    if (left <= 0) break;
    left -= 1;
    const text = await reader.textIfWhole(hash);
    if (text === undefined) break;
    const version = versionOf(JSON.parse(text).sources, source, key);
    const head = version === undefined ? undefined : (await readHeadOf(objects, source, version))?.head;
    // What was collected then is kept no more.
    if (version !== undefined && head === undefined) break;
    const entry = head && (await findInTree(nodes, head.root, key));
    forms.push({ generation, at, entry, version: entry === undefined ? "" : splitEntry(entry).version });
  }
  return forms.flatMap(({ entry, ...form }, at): readonly PublishedForm[] => {
    const before = forms[at + 1];
    if (before === undefined ? entry === undefined : entry === before.entry) return [];
    const change = entry === undefined ? "went" : before?.entry === undefined ? "came" : "changed";
    return [{ ...form, change }];
  });
}
