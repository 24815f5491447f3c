import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { type Selection, selectResources } from "../../streams/select-resources.ts";

/** Long polls that wait for the same resources: one check decides whether a change of HEAD concerns all of them. */
export interface WaiterGroup {
  /** @param state what HEAD serves now, as `Heads` names it */
  isNews(state: string): Promise<boolean>;
}

/** What the polls of a group wait for. */
export interface WaiterGroupKey {
  readonly classId: string;
  readonly type: ResourceType;
  /** Empty for the types that come whole. */
  readonly names: readonly string[];
  /** What they have, from the root that they were placed in. */
  readonly selection: Selection;
  readonly loaded: LoadedRoot;
}

export interface WaiterGroups {
  of(question: WaiterGroupKey): WaiterGroup;
}

/** @param inForce the root that serves every node now; undefined where nodes are served apart, or none is known */
export function createWaiterGroups(
  reader: SnapshotReader,
  inForce: () => Promise<LoadedRoot | undefined>,
): WaiterGroups {
  const known = new WeakMap<LoadedRoot, Map<string, WaiterGroup>>();
  const isSamePlace = createSamePlaces();

  async function isNews({ loaded, classId, type, names, selection }: WaiterGroupKey): Promise<boolean> {
    const now = await inForce();
    if (now === undefined || !isSamePlace(loaded, now)) return true;
    const found = await selectResources(reader, now, { classId, shape: "poll", type, names });
    return found?.version !== selection.version;
  }

  return {
    of(question) {
      const { loaded, classId, type, names } = question;
      const ofRoot = known.get(loaded) ?? new Map<string, WaiterGroup>();
      known.set(loaded, ofRoot);
      const key = JSON.stringify([classId, type, names]);
      const waiterGroup = ofRoot.get(key) ?? memoized((_state) => isNews(question));
      ofRoot.set(key, waiterGroup);
      return waiterGroup;
    },
  };
}

/** Checks once per state. On an error the polls are answered, and each reports the error itself. */
function memoized(ask: (state: string) => Promise<boolean>): WaiterGroup {
  let last: { readonly state: string; readonly isNews: Promise<boolean> } | undefined;
  return {
    isNews(state) {
      if (last?.state !== state) last = { state, isNews: ask(state).catch(() => true) };
      return last.isNews;
    },
  };
}

/** Whether nodes have the same class in two roots: all that class assignment reads is the same in both. */
function createSamePlaces(): (before: LoadedRoot, now: LoadedRoot) => boolean {
  let last: { readonly before: LoadedRoot; readonly now: LoadedRoot; readonly isSame: boolean } | undefined;
  return (before, now) => {
    if (last?.before !== before || last.now !== now) last = { before, now, isSame: isPlacedAlike(before, now) };
    return last.isSame;
  };
}

function isPlacedAlike(before: LoadedRoot, now: LoadedRoot): boolean {
  if (before === now) return true;
  if (before.root.classifier !== now.root.classifier || before.classes.size !== now.classes.size) return false;
  const shardsOf = ({ root }: LoadedRoot) => root.nodes.map(({ hash }) => hash).join();
  return shardsOf(before) === shardsOf(now) && [...before.classes.keys()].every((id) => now.classes.has(id));
}
