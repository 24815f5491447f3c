import type { Dice } from "../objects/dice.ts";
import type { Manifest } from "../objects/vocabulary.ts";
import { changeAt } from "./change-at.ts";
import { asManifest, type EditContext, type Edited, isAcceptedObject, tried } from "./edit.ts";
import { type Folder, placeKey, withObjects } from "./folder.ts";
import type { EditableKind } from "./kinds.ts";

/** One more object of a kind. */
export function addOf(context: EditContext, folder: Folder, kind: EditableKind): Edited | undefined {
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

/** A file of the folder's own cluster. */
export const randomFile = (dice: Dice): string => dice.pick(["a.yaml", "b.yaml", "more/c.yaml", "more/d.yaml"]);
