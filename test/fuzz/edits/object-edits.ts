/** Edits of which objects there are, and where. */
import { shuffled } from "../objects/dice.ts";
import { addOf, randomFile } from "./add-object.ts";
import { type Edit, type EditContext, type Edited, isAcceptedObject, replaced } from "./edit.ts";
import { type Folder, isRemote, placeKey, withObjects, withoutObjects } from "./folder.ts";
import { editableKinds, kindOf } from "./kinds.ts";
import type { Bundle } from "./materials.ts";
import { touched } from "./metadata-edit.ts";

/** Beyond this many objects, edits rather take some away. */
const manyObjects = 22;

/** An object written again: younger, older, or of another version. */
export const touch: Edit = ({ dice }, folder) => {
  if (folder.objects.length === 0) return undefined;
  const placed = dice.pick(folder.objects);
  return replaced(folder, placed, touched(dice, placed.manifest), "metadata.creationTimestamp");
};

/** An object more, or an application with its pods. */
export const add: Edit = (context, folder) => {
  const { dice, materials } = context;
  if (folder.objects.length > manyObjects) return remove(context, folder);
  if (dice.chance(25)) return bundleAdded(context, folder, dice.pick(materials.applications), dice.chance(20));
  return addOf(context, folder, dice.pick(editableKinds));
};

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

/** An object or two less; more where there are many. */
export const remove: Edit = ({ dice }, folder) => {
  if (folder.objects.length < 6) return undefined;
  const gone = dice.some(folder.objects, 1, folder.objects.length > manyObjects ? 8 : 2).map(placeKey);
  return { what: `remove ${gone.join(", ")}`, folder: withoutObjects(folder, new Set(gone)) };
};

/** A case of the conformance data comes, in place of those that came before. */
export const caseArrives: Edit = (context, folder) => {
  const { dice, materials } = context;
  if (materials.cases.length === 0) return undefined;
  const bundle = dice.pick(materials.cases);
  const room = { ...folder, objects: dice.chance(70) ? [] : folder.objects.slice(-6) };
  return bundleAdded(context, room, bundle, false);
};

/** Two objects of a kind say what the other said. */
export const swap: Edit = ({ dice }, folder) => {
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

/** An object again under another name or in another namespace: what two say of one thing has to be merged, or one wins. */
export const copy: Edit = ({ dice }, folder) => {
  if (folder.objects.length === 0 || folder.objects.length > manyObjects) return undefined;
  const { file, manifest } = dice.pick(folder.objects);
  const { name, namespace } = manifest.metadata;
  const elsewhere =
    namespace === "" || dice.chance(60) ? namespace : dice.pick(["ns1", "ns2", "istio-system", "default"]);
  const metadata = {
    ...manifest.metadata,
    name: `${dice.pick(["a", "z"])}-${name}`.slice(0, 60),
    namespace: elsewhere,
  };
  const copied = touched(dice, { ...manifest, metadata });
  if (!isAcceptedObject(copied)) return undefined;
  return { what: `copy ${elsewhere}/${name}`, folder: withObjects(folder, [{ file, manifest: copied }]) };
};

/** An object under another name, or in another namespace. */
export const rename: Edit = ({ dice }, folder) => {
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
export const reorder: Edit = ({ dice }, folder) => {
  if (dice.chance(50)) return { what: "reorder", folder: { ...folder, objects: shuffled(dice, folder.objects) } };
  const moved = new Set(dice.some(folder.objects, 1, 3));
  const objects = folder.objects.map((placed) =>
    moved.has(placed) && !isRemote(placed) ? { ...placed, file: randomFile(dice) } : placed,
  );
  return { what: "move to another file", folder: { ...folder, objects } };
};

/** The folder as it was some edits ago. */
export const goBack: Edit = ({ dice, history }) => {
  const at = history.at(-2 - dice.int(8));
  return at === undefined ? undefined : { what: "go back", folder: at };
};
