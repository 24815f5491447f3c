import { PortolanError } from "../../base/diagnostic.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { isWildcard } from "../../snapshot/resource-type.ts";
import type { ResourceEntry } from "../../snapshot/root.ts";
import { type Selection, selectResources } from "../../streams/select-resources.ts";
import type { Refusal } from "./refusals.ts";

/** A refusal with what the node may have refused in it. */
export interface ExplainedRefusal extends Refusal {
  /**
   * Resources that differ from what the node keeps, or all of the answer when that is not known any more; undefined when the
   * store has the refused answer no more.
   */
  readonly suspects: readonly Suspect[] | undefined;
}

export interface Suspect {
  readonly name: string;
  /** Objects that it was made from, as their keys are written: `Kind/namespace/name`. */
  readonly from: readonly string[];
  /** Where they stand, `catalog.yaml:97`, where the sources are at hand. */
  readonly at?: readonly string[];
}

const maxSuspects = 50;

/**
 * Narrows a refusal down to the resources that are new in the refused answer.
 *
 * @param recentRoots roots that were served lately; the one whose version the node keeps is looked for among them
 */
export async function explainRefusal(
  reader: SnapshotReader,
  refusal: Refusal,
  recentRoots: readonly string[],
): Promise<ExplainedRefusal> {
  const suspects = await ifThere(async () => {
    const refused = await selectionIn(reader, refusal, refusal.root);
    if (refused === undefined) return undefined;
    return suspectsIn(reader, refused, await keptSelection(reader, refusal, recentRoots));
  });
  return { ...refusal, suspects };
}

/** undefined for what the store has no more: roots that nothing serves are collected, refusals may be older. */
export async function ifThere<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof PortolanError) return undefined;
    throw cause;
  }
}

async function selectionIn(
  reader: SnapshotReader,
  { classId, type, name }: Refusal,
  root: string,
): Promise<Selection | undefined> {
  // No snapshot holds one.
  if (type === "secrets") return undefined;
  const names = isWildcard(type) ? [] : [name];
  return selectResources(reader, await reader.root(root), { classId, shape: "poll", type, names });
}

/** What the node keeps: that of the latest root in which its class had the version it names. */
async function keptSelection(
  reader: SnapshotReader,
  refusal: Refusal,
  recentRoots: readonly string[],
): Promise<Selection | undefined> {
  for (const root of recentRoots.toReversed()) {
    if (root === refusal.root) continue;
    const selection = await ifThere(() => selectionIn(reader, refusal, root));
    if (selection?.version === refusal.kept) return selection;
  }
  return undefined;
}

async function suspectsIn(
  reader: SnapshotReader,
  refused: Selection,
  kept: Selection | undefined,
): Promise<readonly Suspect[]> {
  const versions = new Map<string, string>();
  for await (const { name, version } of spansBeside(reader, kept, refused)) versions.set(name, version);
  const suspects: Suspect[] = [];
  for await (const { name, version, from } of spansBeside(reader, refused, kept)) {
    if (versions.get(name) !== version) suspects.push({ name, from });
    if (suspects.length === maxSuspects) break;
  }
  return suspects;
}

/** What a selection has in segments that the other has not. */
async function* spansBeside(
  reader: SnapshotReader,
  selection: Selection | undefined,
  other: Selection | undefined,
): AsyncGenerator<ResourceEntry> {
  const shared = new Set(other?.parts.map(({ segment }) => segment.hash));
  for (const { segment, name } of selection?.parts ?? []) {
    if (name === undefined && shared.has(segment.hash)) continue;
    const entries = await reader.entries(segment);
    for (const entry of entries.values()) if (name === undefined || name === entry.name) yield entry;
  }
}
