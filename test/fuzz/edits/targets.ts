import { type Folder, type Placed, placeKey } from "./folder.ts";
import { type EditableKind, kindOf, meshKind, networksKind } from "./kinds.ts";
import { type MetadataPart, metadataKeys, metadataParts } from "./metadata-edit.ts";
import type { ReadPaths, Reads } from "./reads.ts";
import { type FieldPath, leavesOf, type Shape } from "./shape.ts";
import { holds } from "./value-pool.ts";

/** A place whose edit may change an answer, because a compile asked for it. */
export type Target =
  | { readonly at: "field"; readonly kind: EditableKind; readonly object: string; readonly leaf: FieldPath }
  | {
      readonly at: "metadata";
      readonly kind: EditableKind;
      readonly object: string;
      readonly part: MetadataPart;
      readonly key: string;
    };

/** Stands for the object in targets of the two files of settings. */
export const settingsObject = "";

export function targetsOf(folder: Folder, reads: Reads): readonly Target[] {
  return [
    ...fieldTargets(meshKind, settingsObject, folder.meshConfig ?? {}, reads.meshConfig),
    ...fieldTargets(networksKind, settingsObject, folder.networks ?? {}, reads.networks),
    ...[...reads.objects].flatMap(([placed, paths]) => objectTargets(placed, paths)),
  ];
}

function objectTargets(placed: Placed, paths: ReadPaths): readonly Target[] {
  const kind = kindOf(placed.manifest);
  if (kind === undefined) return [];
  const object = placeKey(placed);
  const metadata = metadataParts.flatMap((part) =>
    keysRead(part, paths).map((key): Target => ({ at: "metadata", kind, object, part, key })),
  );
  return [...fieldTargets(kind, object, placed.manifest, paths), ...metadata];
}

/** Where a compile looked at all of them, any key that the compiler's code mentions may count. */
function keysRead(part: MetadataPart, paths: ReadPaths): readonly string[] {
  const keys = paths.flatMap(([at, of, key]) => (at === "metadata" && of === part && key !== undefined ? [key] : []));
  return [...new Set(keys.flatMap((key) => (key === "*" ? metadataKeys : [key])))];
}

function fieldTargets(kind: EditableKind, object: string, value: object, paths: ReadPaths): readonly Target[] {
  const leaves = paths.flatMap((path) => leavesRead(kind.shape, value, path, []));
  const unique = new Map(leaves.map((leaf) => [leaf.join("."), leaf]));
  return [...unique.values()].map((leaf): Target => ({ at: "field", kind, object, leaf }));
}

/** The leaves that a look at a path may have been about: its own, or all below where nothing is there. */
function leavesRead(shape: Shape, value: object, path: readonly string[], at: FieldPath): readonly FieldPath[] {
  const below = () => leavesOf(shape).map((leaf) => [...at, ...leaf]);
  const [step, ...rest] = path;
  if (step === undefined) return isLeaf(shape) || !holds(value, at) ? below() : [];
  if (step === "*" && shape.kind === "message") return below().filter((leaf) => !holds(value, leaf));
  switch (shape.kind) {
    case "message": {
      const field = shape.fields.get(step);
      return field === undefined ? [] : leavesRead(field, value, rest, [...at, step]);
    }
    case "list":
      return leavesRead(shape.element, value, rest, [...at, "[]"]);
    case "map":
      return shape.value.kind === "free" ? below() : leavesRead(shape.value, value, rest, [...at, "{}"]);
    default:
      return below();
  }
}

const isLeaf = (shape: Shape): boolean => leavesOf(shape).every((leaf) => leaf.length === 0);
