import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { type Selection, selectResources } from "../../streams/select-resources.ts";

/** Polls that wait for the same: one answer tells whether a change is news to them, however many they are. */
export interface Alike {
  /** @param state what HEAD serves now, as `Heads` names it */
  isNews(state: string): Promise<boolean>;
}

/** Who waits for what. */
export interface AlikeQuestion {
  readonly classId: string;
  readonly type: ResourceType;
  /** Empty for the types that come whole. */
  readonly names: readonly string[];
  /** What they have, from the root that they were placed in. */
  readonly selection: Selection;
  readonly loaded: LoadedRoot;
}

export interface Alikes {
  of(question: AlikeQuestion): Alike;
}

/** @param inForce the root that serves every node now; undefined where nodes are served apart, or none is known */
export function createAlikes(reader: SnapshotReader, inForce: () => Promise<LoadedRoot | undefined>): Alikes {
  const known = new WeakMap<LoadedRoot, Map<string, Alike>>();
  const isSamePlace = createSamePlaces();

  async function isNews({ loaded, classId, type, names, selection }: AlikeQuestion): Promise<boolean> {
    const now = await inForce();
    if (now === undefined || !isSamePlace(loaded, now)) return true;
    const found = await selectResources(reader, now, { classId, shape: "poll", type, names });
    return found?.version !== selection.version;
  }

  return {
    of(question) {
      const { loaded, classId, type, names } = question;
      const ofRoot = known.get(loaded) ?? new Map<string, Alike>();
      known.set(loaded, ofRoot);
      const key = JSON.stringify([classId, type, names]);
      const alike = ofRoot.get(key) ?? remembering((_state) => isNews(question));
      ofRoot.set(key, alike);
      return alike;
    },
  };
}

/** Asks once for each state. Who cannot be told is woken, and hears himself what is wrong. */
function remembering(ask: (state: string) => Promise<boolean>): Alike {
  let last: { readonly state: string; readonly isNews: Promise<boolean> } | undefined;
  return {
    isNews(state) {
      if (last?.state !== state) last = { state, isNews: ask(state).catch(() => true) };
      return last.isNews;
    },
  };
}

/** Whether a node that has a class in one root has the same in another: all that placing it reads is the same in both. */
function createSamePlaces(): (before: LoadedRoot, now: LoadedRoot) => boolean {
  let last: { readonly before: LoadedRoot; readonly now: LoadedRoot; readonly isSame: boolean } | undefined;
  return (before, now) => {
    if (last?.before !== before || last.now !== now) last = { before, now, isSame: placesAlike(before, now) };
    return last.isSame;
  };
}

function placesAlike(before: LoadedRoot, now: LoadedRoot): boolean {
  if (before === now) return true;
  if (before.root.classifier !== now.root.classifier || before.classes.size !== now.classes.size) return false;
  const shardsOf = ({ root }: LoadedRoot) => root.nodes.map(({ hash }) => hash).join();
  return shardsOf(before) === shardsOf(now) && [...before.classes.keys()].every((id) => now.classes.has(id));
}
