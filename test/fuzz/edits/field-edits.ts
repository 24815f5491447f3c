/** Edits of what an object says. */
import { type Dice, shuffled } from "../objects/dice.ts";
import { addOf } from "./add-object.ts";
import { changeAt } from "./change-at.ts";
import { fieldPlace, metadataPlace, settingsKinds } from "./coverage.ts";
import { asManifest, type Edit, type EditContext, type Edited, isAccepted, replaced, sameJson, tried } from "./edit.ts";
import { type Folder, type Placed, placeKey } from "./folder.ts";
import { type EditableKind, editableKinds, kindOf, meshKind, networksKind } from "./kinds.ts";
import { type MetadataPart, metadataKeys, metadataParts, withMetadata, withOwner } from "./metadata-edit.ts";
import type { FieldPath } from "./shape.ts";
import type { Target } from "./targets.ts";
import { poolOf, poolsTogether, type ValuePool } from "./value-pool.ts";

/** An edit of something that was asked for. */
export const targeted: Edit = (context, folder) => {
  const { dice, coverage, targets } = context;
  const place = (one: Target) =>
    one.at === "field" ? fieldPlace(one.kind, one.leaf) : metadataPlace(one.kind, one.part, one.key);
  const kinds = [...new Set(targets.map(({ kind }) => kind))];
  if (kinds.length === 0) return undefined;
  const kind = dice.pick(kinds);
  const at = dice.chance(75) ? "field" : "metadata";
  const candidates = targets.filter((one) => one.kind === kind && one.at === at);
  const target = leastOf(
    dice.list(1, 4, () => descended(dice, candidates)),
    (one) => (one === undefined ? Number.POSITIVE_INFINITY : (coverage.edits.get(place(one)) ?? 0)),
  );
  if (target === undefined) return undefined;
  const placed = folder.objects.find((each) => placeKey(each) === target.object);
  if (target.at === "field") return fieldEdited(context, folder, target.kind, target.leaf, placed);
  return placed && metadataEdited(context, folder, placed, target);
};

/** One of the targets, a step of the path after the other: a part with many fields counts no more than one that has none. */
function descended(dice: Dice, targets: readonly Target[]): Target | undefined {
  let left = targets;
  for (let depth = 0; left.length > 1; depth++) {
    const groups = [...Map.groupBy(left, (one) => (one.at === "field" ? one.leaf[depth] : one.key)).values()];
    if (groups.length === 1 && groups[0]?.every((one) => one.at === "metadata" || one.leaf.length <= depth)) break;
    left = dice.pick(groups);
  }
  return left.length === 0 ? undefined : dice.pick(left);
}

/** An edit of any field of any kind, rather one of those that were edited least. */
export const field: Edit = (context, folder) => {
  const { dice, coverage } = context;
  const present = presentKinds(folder);
  const all = dice.chance(50) ? everyField : everyField.filter(({ kind }) => present.has(kind));
  const chosen = dice.chance(30)
    ? dice.pick(all)
    : leastOf(shuffled(dice, all), ({ place }) => coverage.edits.get(place) ?? 0);
  if (chosen === undefined) return undefined;
  const { kind, leaf } = chosen;
  const objects = folder.objects.filter(({ manifest }) => kindOf(manifest) === kind);
  return fieldEdited(context, folder, kind, leaf, objects.length === 0 ? undefined : dice.pick(objects));
};

const everyField = [...editableKinds, ...settingsKinds].flatMap((kind) =>
  kind.leaves.map((leaf) => ({ kind, leaf, place: fieldPlace(kind, leaf) })),
);

const presentKinds = (folder: Folder): ReadonlySet<EditableKind> =>
  new Set([meshKind, ...folder.objects.flatMap(({ manifest }) => kindOf(manifest) ?? [])]);

function leastOf<T>(all: readonly T[], count: (one: T) => number): T | undefined {
  const [first, ...others] = all;
  if (first === undefined) return undefined;
  return others.reduce((least, one) => (count(one) < count(least) ? one : least), first);
}

function fieldEdited(
  context: EditContext,
  folder: Folder,
  kind: EditableKind,
  leaf: FieldPath,
  placed: Placed | undefined,
): Edited | undefined {
  const { dice } = context;
  const pool = poolsTogether([poolOf(valuesOf(folder)), context.materials.pool]);
  if (kind === meshKind || kind === networksKind) return settingsField(context, folder, kind, leaf, pool);
  if (placed === undefined) return addOf(context, folder, kind);
  return tried(10, () => {
    const manifest = asManifest(placed.manifest, changeAt({ dice, kind, pool }, kind.shape, placed.manifest, leaf));
    return replaced(folder, placed, manifest, leaf.join("."));
  });
}

function settingsField(
  { dice }: EditContext,
  folder: Folder,
  kind: EditableKind,
  leaf: FieldPath,
  pool: ValuePool,
): Edited | undefined {
  const file = kind.kind;
  const before = kind === meshKind ? folder.meshConfig : folder.networks;
  return tried(10, () => {
    const value = changeAt({ dice, kind, pool }, kind.shape, before, leaf);
    if (typeof value !== "object" || value === null || sameJson(before, value)) return undefined;
    if (!isAccepted({ file, text: JSON.stringify(value) })) return undefined;
    const changed = kind === meshKind ? { ...folder, meshConfig: value } : { ...folder, networks: value };
    return { what: `${file} ${leaf.join(".")}`, folder: changed };
  });
}

function* valuesOf(folder: Folder): Iterable<readonly [EditableKind, unknown]> {
  if (folder.meshConfig !== undefined) yield [meshKind, folder.meshConfig];
  if (folder.networks !== undefined) yield [networksKind, folder.networks];
  for (const { manifest } of folder.objects) {
    const kind = kindOf(manifest);
    if (kind !== undefined) yield [kind, manifest];
  }
}

/** A label or annotation that the compiler knows, or what Kubernetes says of a pod's owner. */
export const metadata: Edit = (context, folder) => {
  const { dice } = context;
  if (folder.objects.length === 0) return undefined;
  const placed = dice.pick(folder.objects);
  const kind = kindOf(placed.manifest);
  if (kind === undefined) return undefined;
  if (kind.kind === "Pod" && dice.chance(8))
    return replaced(folder, placed, withOwner(dice, placed.manifest), "metadata.ownerReferences");
  return metadataEdited(context, folder, placed, { part: dice.pick(metadataParts), key: dice.pick(metadataKeys) });
};

const metadataEdited = (
  { dice }: EditContext,
  folder: Folder,
  placed: Placed,
  { part, key }: { readonly part: MetadataPart; readonly key: string },
): Edited | undefined =>
  replaced(folder, placed, withMetadata(dice, placed.manifest, part, key), `metadata.${part}[${key}]`);
