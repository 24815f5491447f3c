import type { Folder, Placed } from "./folder.ts";
import { placeKey } from "./folder.ts";
import { type EditableKind, editableKinds, kindOf, meshKind, networksKind } from "./kinds.ts";
import { metadataKeys, metadataParts } from "./metadata-edit.ts";
import { fieldsOf, placesOf } from "./value-pool.ts";

/** How often each place was edited in an object that stayed: `networking.istio.io/Gateway spec.servers.[].bind`. */
export interface Coverage {
  /** All places that there are, with the number of edits. */
  readonly edits: Map<string, number>;
  /** Places of which an edit alone changed some answer. */
  readonly felt: Set<string>;
}

export const fieldPlace = (kind: EditableKind, path: readonly string[]): string => `${kind.name} ${path.join(".")}`;
export const metadataPlace = (kind: EditableKind, part: string, key: string): string =>
  `${kind.name} metadata.${part}[${key}]`;

export const settingsKinds: readonly EditableKind[] = [meshKind, networksKind];

export function newCoverage(): Coverage {
  const fields = [...editableKinds, ...settingsKinds].flatMap((kind) =>
    kind.leaves.map((leaf) => fieldPlace(kind, leaf)),
  );
  const metadata = editableKinds.flatMap((kind) =>
    metadataParts.flatMap((part) => metadataKeys.map((key) => metadataPlace(kind, part, key))),
  );
  return { edits: new Map([...fields, ...metadata].map((place) => [place, 0])), felt: new Set() };
}

/** The places that differ between two folders, in objects that are in both. */
export function editedPlaces(before: Folder, after: Folder): readonly string[] {
  const earlier = new Map(before.objects.map((placed) => [placeKey(placed), placed]));
  const places = new Set<string>();
  for (const placed of after.objects) {
    const old = earlier.get(placeKey(placed));
    const kind = kindOf(placed.manifest);
    if (old === undefined || kind === undefined || old.manifest === placed.manifest) continue;
    for (const place of differingPlaces(kind, old.manifest, placed.manifest)) places.add(place);
    for (const place of differingMetadata(kind, old, placed)) places.add(place);
  }
  const settings = [
    [meshKind, before.meshConfig, after.meshConfig],
    [networksKind, before.networks, after.networks],
  ] as const;
  for (const [kind, old, now] of settings) {
    if (old !== now) for (const place of differingPlaces(kind, old, now)) places.add(place);
  }
  return [...places];
}

function differingPlaces(kind: EditableKind, before: unknown, after: unknown): readonly string[] {
  const [one, other] = [textsByPlace(kind, before), textsByPlace(kind, after)];
  return [...new Set([...one.keys(), ...other.keys()])].filter((place) => one.get(place) !== other.get(place));
}

/** What stands at each leaf, elements and members in their order. */
function textsByPlace(kind: EditableKind, value: unknown): ReadonlyMap<string, string> {
  const leaves = new Set(kind.leaves.map((leaf) => fieldPlace(kind, leaf)));
  const texts = new Map<string, string>();
  for (const { path, value: found } of placesOf(kind.shape, value, [])) {
    const place = fieldPlace(kind, path);
    if (leaves.has(place)) texts.set(place, `${texts.get(place) ?? ""}|${JSON.stringify(found)}`);
  }
  return texts;
}

function differingMetadata(kind: EditableKind, before: Placed, after: Placed): readonly string[] {
  return metadataParts.flatMap((part) => {
    const one = fieldsOf(before.manifest.metadata[part]);
    const other = fieldsOf(after.manifest.metadata[part]);
    return [...new Set([...Object.keys(one), ...Object.keys(other)])]
      .filter((key) => one[key] !== other[key])
      .map((key) => metadataPlace(kind, part, key));
  });
}
