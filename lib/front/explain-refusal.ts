import type { ResourceSpan } from "../snapshot/segment.ts";
import type { LoadedTree, SnapshotReader } from "../snapshot/snapshot-reader.ts";
import type { Refusal } from "./refusals.ts";
import { wireVersion } from "./select-resources.ts";

/** A refusal with what the node may have refused in it. */
export interface ExplainedRefusal extends Refusal {
  /** Resources that differ from what the node keeps, or all of the answer when that is not known any more. */
  readonly suspects: readonly Suspect[];
}

export interface Suspect {
  readonly name: string;
  /** Objects that it was made from, as their keys are written: `Kind/namespace/name`. */
  readonly from: readonly string[];
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
  const refused = await spansOf(reader, refusal, refusal.root);
  const kept = await keptSpans(reader, refusal, recentRoots);
  const suspects = [...refused.values()]
    .filter(
      ({ name, version }) => (refusal.name === "" || refusal.name === name) && kept?.get(name)?.version !== version,
    )
    .slice(0, maxSuspects)
    .map(({ name, from }) => ({ name, from }));
  return { ...refusal, suspects };
}

type Spans = ReadonlyMap<string, ResourceSpan>;

async function treeOf(
  reader: SnapshotReader,
  { classId, type }: Refusal,
  root: string,
): Promise<LoadedTree | undefined> {
  const loaded = await reader.root(root);
  const index = loaded.classes.get(classId)?.poll[type];
  return index === undefined ? undefined : reader.tree(loaded.root, type, index);
}

async function spansOf(reader: SnapshotReader, refusal: Refusal, root: string): Promise<Spans> {
  const segments = (await treeOf(reader, refusal, root))?.segments ?? [];
  const read = await Promise.all(segments.map(async (segment) => [...(await reader.segment(segment)).spans]));
  return new Map(read.flat());
}

/** What the node keeps: that of the latest root in which its class had the version it names. */
async function keptSpans(
  reader: SnapshotReader,
  refusal: Refusal,
  recentRoots: readonly string[],
): Promise<Spans | undefined> {
  for (const root of recentRoots.toReversed()) {
    const tree = await treeOf(reader, refusal, root);
    if (tree === undefined || root === refusal.root) continue;
    const spans = await spansOf(reader, refusal, root);
    const version = refusal.name === "" ? tree.version : (spans.get(refusal.name)?.version ?? "");
    if (wireVersion(version) === refusal.kept) return spans;
  }
  return undefined;
}
