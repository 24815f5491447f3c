import { readFiles, type SourceFile } from "../../../lib/config/directory.ts";
import type { Dice } from "../objects/dice.ts";
import { shuffled } from "../objects/dice.ts";
import type { Manifest } from "../objects/vocabulary.ts";
import { changeAt } from "./change-at.ts";
import { type Coverage, fieldPlace, metadataPlace, settingsKinds } from "./coverage.ts";
import { type Folder, isRemote, type Placed, placeKey, withObjects, withoutObjects } from "./folder.ts";
import { type EditableKind, editableKinds, kindOf, meshKind, networksKind } from "./kinds.ts";
import type { Bundle, Materials } from "./materials.ts";
import { type MetadataPart, metadataKeys, metadataParts, touched, withMetadata, withOwner } from "./metadata-edit.ts";
import type { FieldPath } from "./shape.ts";
import type { Target } from "./targets.ts";
import { poolOf, poolsTogether, type ValuePool } from "./value-pool.ts";

/** A folder after an edit, and what the edit was. */
export interface Edited {
  readonly what: string;
  readonly folder: Folder;
}

/** What an edit may depend on. */
export interface EditContext {
  readonly dice: Dice;
  readonly materials: Materials;
  /** Places that were edited least are chosen more often. */
  readonly coverage: Coverage;
  /** Folders of before, the newest last. */
  readonly history: readonly Folder[];
  /** Places that the last compile that was watched asked for. */
  readonly targets: readonly Target[];
}

type Edit = (context: EditContext, folder: Folder) => Edited | undefined;

/** A random edit, or a few at once; every object of the result is accepted by its schema and rules. */
export function randomEdit(context: EditContext, folder: Folder): Edited {
  const { dice } = context;
  const whats: string[] = [];
  let current = folder;
  for (let wanted = dice.pick([1, 1, 1, 2, 3]), attempt = 0; whats.length < wanted && attempt < 20; attempt++) {
    const edited = dice.pick(edits)(context, current);
    if (edited === undefined) continue;
    whats.push(edited.what);
    current = edited.folder;
  }
  return { what: whats.join("; "), folder: current };
}

/** One object less or more beyond this many is what the next edits go for. */
const manyObjects = 34;

/** An edit of something that was asked for. */
const targeted: Edit = (context, folder) => {
  const { dice, coverage, targets } = context;
  const place = (one: Target) =>
    one.at === "field" ? fieldPlace(one.kind, one.leaf) : metadataPlace(one.kind, one.part, one.key);
  const kinds = [...new Set(targets.map(({ kind }) => kind))];
  if (kinds.length === 0) return undefined;
  const kind = dice.pick(kinds);
  const at = dice.chance(75) ? "field" : "metadata";
  const candidates = targets.filter((one) => one.kind === kind && one.at === at);
  const target = leastOf(dice.some(candidates, 0, 5), (one) => coverage.edits.get(place(one)) ?? 0);
  if (target === undefined) return undefined;
  const placed = folder.objects.find((each) => placeKey(each) === target.object);
  if (target.at === "field") return fieldEdited(context, folder, target.kind, target.leaf, placed);
  return placed && metadataEdited(context, folder, placed, target);
};

/** An edit of any field of any kind, rather one of those that were edited least. */
const field: Edit = (context, folder) => {
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

const metadata: Edit = (context, folder) => {
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

const touch: Edit = ({ dice }, folder) => {
  if (folder.objects.length === 0) return undefined;
  const placed = dice.pick(folder.objects);
  return replaced(folder, placed, touched(dice, placed.manifest), "metadata.creationTimestamp");
};

const add: Edit = (context, folder) => {
  const { dice, materials } = context;
  if (folder.objects.length > manyObjects) return remove(context, folder);
  if (dice.chance(25)) return bundleAdded(context, folder, dice.pick(materials.applications), dice.chance(20));
  return addOf(context, folder, dice.pick(editableKinds));
};

function addOf(context: EditContext, folder: Folder, kind: EditableKind): Edited | undefined {
  const { dice, materials } = context;
  const known = materials.objects.get(kind.name) ?? [];
  const manifest = known.length > 0 && dice.chance(90) ? dice.pick(known) : madeUp(context, kind);
  if (manifest === undefined) return undefined;
  const placed = { file: randomFile(dice), manifest };
  return { what: `add ${placeKey(placed)}`, folder: withObjects(folder, [placed]) };
}

/** An object of a kind of which nobody has written any: what its schema asks for, and a field. */
function madeUp({ dice, materials }: EditContext, kind: EditableKind): Manifest | undefined {
  const { apiVersion } = kind;
  const metadata = { name: dice.pick(["default", "a", "object-1"]), namespace: dice.pick(["ns1", "istio-system"]) };
  const empty = { apiVersion, kind: kind.kind, metadata };
  return tried(20, () => {
    const choice = { dice, kind, pool: materials.pool };
    const manifest = asManifest(empty, changeAt(choice, kind.shape, empty, dice.pick(kind.leaves)));
    return manifest !== undefined && isAcceptedObject(manifest) ? manifest : undefined;
  });
}

/** @param remote into a cluster of its own */
function bundleAdded({ dice }: EditContext, folder: Folder, bundle: Bundle, remote: boolean): Edited {
  const file = remote ? "clusters/two.yaml" : randomFile(dice);
  const objects = bundle.objects.map((placed) => (isRemote(placed) ? placed : { file, manifest: placed.manifest }));
  const next = withObjects(folder, objects);
  return {
    what: `add ${bundle.name}${remote ? " to a further cluster" : ""}`,
    folder: {
      ...next,
      ...(bundle.meshConfig === undefined ? {} : { meshConfig: bundle.meshConfig }),
      ...(bundle.networks === undefined ? {} : { networks: bundle.networks }),
    },
  };
}

const remove: Edit = ({ dice }, folder) => {
  if (folder.objects.length < 6) return undefined;
  const gone = dice.some(folder.objects, 1, folder.objects.length > manyObjects ? 8 : 2).map(placeKey);
  return { what: `remove ${gone.join(", ")}`, folder: withoutObjects(folder, new Set(gone)) };
};

/** A case of the conformance data comes, in place of those that came before. */
const caseArrives: Edit = (context, folder) => {
  const { dice, materials } = context;
  if (materials.cases.length === 0) return undefined;
  const bundle = dice.pick(materials.cases);
  const room = { ...folder, objects: dice.chance(70) ? [] : folder.objects.slice(-12) };
  return bundleAdded(context, room, bundle, false);
};

/** Two objects of a kind say what the other said. */
const swap: Edit = ({ dice }, folder) => {
  const groups = [...Map.groupBy(folder.objects, ({ manifest }) => kindOf(manifest)?.name ?? "").values()];
  const several = groups.filter((group) => group.length > 1);
  if (several.length === 0) return undefined;
  const [one, other] = dice.some(dice.pick(several), 2, 2);
  if (one === undefined || other === undefined) return undefined;
  const exchanged = [
    { ...one, manifest: { ...other.manifest, metadata: one.manifest.metadata } },
    { ...other, manifest: { ...one.manifest, metadata: other.manifest.metadata } },
  ];
  if (!exchanged.every(({ manifest }) => isAcceptedObject(manifest))) return undefined;
  return { what: `swap ${placeKey(one)} and ${placeKey(other)}`, folder: withObjects(folder, exchanged) };
};

const rename: Edit = ({ dice }, folder) => {
  if (folder.objects.length === 0) return undefined;
  const placed = dice.pick(folder.objects);
  const { metadata: before } = placed.manifest;
  const renamed = dice.chance(50)
    ? { ...before, name: dice.pick(["a", "b", "default", "object-1", "object-2", `${before.name}-x`]) }
    : { ...before, namespace: before.namespace === "" ? "" : dice.pick(["ns1", "ns2", "istio-system", "default"]) };
  const manifest = { ...placed.manifest, metadata: renamed };
  if (!isAcceptedObject(manifest)) return undefined;
  const next = withObjects(withoutObjects(folder, new Set([placeKey(placed)])), [{ ...placed, manifest }]);
  return { what: `rename ${placeKey(placed)} to ${renamed.namespace}/${renamed.name}`, folder: next };
};

/** The same objects, in other places of their files, or in other files. */
const reorder: Edit = ({ dice }, folder) => {
  if (dice.chance(50)) return { what: "reorder", folder: { ...folder, objects: shuffled(dice, folder.objects) } };
  const moved = new Set(dice.some(folder.objects, 1, 3));
  const objects = folder.objects.map((placed) =>
    moved.has(placed) && !isRemote(placed) ? { ...placed, file: randomFile(dice) } : placed,
  );
  return { what: "move to another file", folder: { ...folder, objects } };
};

const goBack: Edit = ({ dice, history }) => {
  const at = history.at(-2 - dice.int(8));
  return at === undefined ? undefined : { what: "go back", folder: at };
};

/** The more often an edit is listed, the more of it there is. */
const edits: readonly Edit[] = [
  ...Array.from({ length: 26 }, () => targeted),
  ...Array.from({ length: 9 }, () => field),
  metadata,
  ...[add, add, add, add, remove, remove, remove, touch, touch, swap, swap, rename, rename, reorder, reorder],
  ...[goBack, goBack, caseArrives, caseArrives, caseArrives],
];

const randomFile = (dice: Dice): string => dice.pick(["a.yaml", "b.yaml", "more/c.yaml", "more/d.yaml"]);

function replaced(folder: Folder, placed: Placed, manifest: Manifest | undefined, what: string): Edited | undefined {
  if (manifest === undefined || sameJson(placed.manifest, manifest) || !isAcceptedObject(manifest)) return undefined;
  const objects = folder.objects.map((each) => (each === placed ? { ...placed, manifest } : each));
  return { what: `${placeKey(placed)} ${what}`, folder: { ...folder, objects } };
}

function tried<T>(times: number, attempt: () => T | undefined): T | undefined {
  for (let turn = 0; turn < times; turn++) {
    const made = attempt();
    if (made !== undefined) return made;
  }
  return undefined;
}

/** A changed object is still an object, under its own name. */
const asManifest = ({ apiVersion, kind, metadata }: Manifest, changed: unknown): Manifest | undefined =>
  typeof changed === "object" && changed !== null ? { ...changed, apiVersion, kind, metadata } : undefined;

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const isAcceptedObject = (manifest: Manifest): boolean =>
  isAccepted({ file: "object.yaml", text: JSON.stringify(manifest) });

const isAccepted = (file: SourceFile): boolean =>
  readFiles([file]).diagnostics.every(({ severity }) => severity !== "error");
