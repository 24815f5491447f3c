import { wireVersion } from "../snapshot/parts-version.ts";
import type { LoadedTree } from "../snapshot/reader/loaded.ts";
import { isWildcard, type ResourceType } from "../snapshot/resource-type.ts";
import { deltaByNames } from "./delta.ts";
import type { ChangedResource, Differences, GoneResource } from "./differences.ts";
import { changedMap, changedSet, type NameMap, namesIn, noNames, valueOf } from "./name-map.ts";
import { findResource } from "./select-resources.ts";
import type { TreeReader } from "./tree-reader.ts";
import type { Watch } from "./watch.ts";

/** How a stream answers: with all that there is, or with what changed. */
export type StreamKind = "whole" | "delta";

/** What a watch is to be sent of a tree. */
export interface Due {
  /** Whether an answer is due even if nothing is in it. */
  readonly isAnswer: boolean;
  readonly changed: readonly ChangedResource[];
  /** What its reader has and the tree has not. */
  readonly gone: NameMap<GoneResource>;
  /** What its reader asked for and nobody has. */
  readonly missing: readonly string[];
}

/** What dues are worked out from. */
export interface Sources {
  readonly reader: TreeReader;
  readonly differences: Differences;
  /** Dues of watches that were worked out before, by the tree: a request for one type leaves the watches of others as they are. */
  readonly known: WeakMap<Watch, WeakMap<LoadedTree, Due>>;
}

const nothingDue: Due = { isAnswer: false, changed: [], gone: noNames, missing: [] };

/** What a watch lacks of a tree. @throws PortolanError when the store has what it was sent before no more */
export async function dueOf(sources: Sources, watch: Watch, tree: LoadedTree): Promise<Due> {
  const known = sources.known.get(watch) ?? new WeakMap<LoadedTree, Due>();
  sources.known.set(watch, known);
  const due = known.get(tree) ?? (await workedOut(sources, watch, tree));
  known.set(tree, due);
  return due;
}

async function workedOut({ reader, differences }: Sources, watch: Watch, tree: LoadedTree): Promise<Due> {
  const { owed, names, has } = watch;
  if (owed.kind === "all") {
    if (owed.version === wireVersion(tree.version)) return nothingDue;
    const { changed, removed } = await deltaByNames(reader, tree, {
      names: names === "all" ? undefined : namesIn(names),
      known: owed.known,
    });
    const lost = removed.filter((name) => owed.known.has(name));
    const gone = changedMap<GoneResource>(
      noNames,
      lost.map((name) => [name, { name, segment: undefined }]),
    );
    // Who has nothing waits for an answer, though there be nothing; who has everything does not.
    return {
      isAnswer: owed.known.size === 0,
      changed,
      gone,
      missing: removed.filter((name) => !owed.known.has(name)),
    };
  }
  const moved = has === undefined ? { changed: [], gone: [] } : await differences.between(has, tree);
  const isWanted = wantedBy(names);
  const changed = moved.changed.filter(({ name }) => isWanted(name));
  const gone = changedMap(
    watch.gone,
    moved.gone.filter(({ name }) => isWanted(name)).map((one) => [one.name, one]),
    changed.map(({ name }) => name),
  );
  if (owed.kind === "nothing") return { isAnswer: false, changed, gone, missing: [] };
  const asked = namesIn(owed.names);
  const found = await Promise.all(asked.map((name) => findResource(reader, tree, name)));
  const isChanged = new Set(changed.map(({ name }) => name));
  const others = found.flat().filter(({ name }) => !isChanged.has(name));
  return {
    isAnswer: true,
    changed: [...changed, ...others.map(({ version, ...part }) => ({ ...part, version: wireVersion(version) }))],
    gone,
    missing: asked.filter((name, i) => found[i]?.length === 0 && valueOf(gone, name) === undefined),
  };
}

function wantedBy(names: Watch["names"]): (name: string) => boolean {
  if (names === "all") return () => true;
  return (name) => valueOf(names, name) !== undefined;
}

/** What one message says. */
export interface Answer {
  readonly type: ResourceType;
  /** What is new; of a type that comes whole the rest goes with it. */
  readonly changed: readonly ChangedResource[];
  /** Said in delta streams only. */
  readonly removed: readonly string[];
  /** What its reader still has, and is to be told later that it is gone. */
  readonly gone: NameMap<GoneResource>;
}

/** What is due of each type, those first that Envoy must learn first. */
export type Dues = readonly (readonly [ResourceType, Due])[];

/**
 * The next message to send: what is new, clusters first; when nothing is, what is gone, clusters last. So a route never names a
 * cluster that its reader does not have.
 */
export function nextAnswer(kind: StreamKind, dues: Dues): Answer | undefined {
  const fresh = dues.find(([, { changed, isAnswer, missing }]) => isAnswer || changed.length + missing.length > 0);
  if (fresh !== undefined) {
    const [type, { changed, gone, missing }] = fresh;
    return { type, changed, removed: missing, gone: tellsOfGone(kind, type) ? gone : noNames };
  }
  const left = dues.findLast(([type, { gone }]) => gone.size > 0 && tellsOfGone(kind, type));
  if (left === undefined) return undefined;
  const [type, { gone }] = left;
  return { type, changed: [], removed: namesIn(gone), gone: noNames };
}

/**
 * A state-of-the-world answer of resources that come by name says nothing of those that are not in it. An extension's configuration is never
 * said to be gone: a listener that serves until the next one is warm, or drains, would answer 500 without it. Envoy lets go of it by itself.
 */
const tellsOfGone = (kind: StreamKind, type: ResourceType): boolean =>
  (kind === "delta" && type !== "extension_configs") || isWildcard(type);

/** Keeps a tree's own texts instead of those of a request, which take memory in every stream. */
export function sharing(watch: Watch, { changed }: Pick<Due, "changed">): Watch {
  const { names, owed } = watch;
  if (names === "all" || owed.kind === "nothing") return watch;
  const shared = changed.map(({ name }) => name).filter((name) => valueOf(names, name) !== undefined);
  return { ...watch, names: changedSet(names, shared) };
}
