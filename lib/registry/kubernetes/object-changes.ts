import { byCodePoint } from "../../base/diagnostic.ts";
import { type KubernetesObject, objectKey } from "./object.ts";

/** Objects that went and came; a changed one did both. */
export interface ObjectChanges {
  readonly removed: readonly KubernetesObject[];
  readonly added: readonly KubernetesObject[];
}

/** Changes by kind. */
export type KindChanges = ReadonlyMap<string, ObjectChanges>;

/** Of a kind that nothing happened to. */
export const noChanges: ObjectChanges = { removed: [], added: [] };

/** Sorts changes by kind in one pass. */
export function byKind({ removed, added }: ObjectChanges): KindChanges {
  const kinds = new Map<string, { removed: KubernetesObject[]; added: KubernetesObject[] }>();
  const changesOf = (kind: string) => {
    let changes = kinds.get(kind);
    if (changes === undefined) {
      changes = { removed: [], added: [] };
      kinds.set(kind, changes);
    }
    return changes;
  };
  for (const object of removed) changesOf(object.kind).removed.push(object);
  for (const object of added) changesOf(object.kind).added.push(object);
  return kinds;
}

/** The changes to the objects of a kind as writes to a map by key; undefined marks removal. */
export function writes<T>(
  changes: KindChanges,
  kind: string,
  read: (object: KubernetesObject) => T | undefined,
): Map<string, T | undefined> {
  const { removed, added } = changes.get(kind) ?? noChanges;
  const out = new Map<string, T | undefined>();
  for (const object of removed) out.set(objectKey(object), undefined);
  for (const object of added) out.set(objectKey(object), read(object));
  return out;
}

const nameOf = (object: KubernetesObject): string => `${object.kind} ${objectKey(object)}`;

/** Whether two objects have one kind and name. */
export const nameTwice = (objects: readonly KubernetesObject[]): boolean =>
  new Set(objects.map(nameOf)).size < objects.length;

/** Whether an object came with the kind and name of another one that is there. @param objects as they are now */
export function takesName({ removed, added }: ObjectChanges, objects: readonly KubernetesObject[]): boolean {
  if (nameTwice(added)) return true;
  const left = new Set(removed.map(nameOf));
  const come = added.filter((object) => !left.has(nameOf(object)));
  if (come.length === 0) return false;
  const [own, kinds, names] = [new Set(come), new Set(come.map(({ kind }) => kind)), new Set(come.map(nameOf))];
  return objects.some((object) => kinds.has(object.kind) && names.has(nameOf(object)) && !own.has(object));
}

/** By namespace and name. */
export function byObjectName(
  a: { readonly object: KubernetesObject },
  b: { readonly object: KubernetesObject },
): number {
  return byCodePoint(objectKey(a.object), objectKey(b.object));
}
