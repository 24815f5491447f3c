import { kindSchemas } from "../../../lib/config/kind-registry.ts";
import { meshConfig, meshNetworks } from "../../../lib/config/schema/mesh-config.ts";
import { groupVersion } from "../../../lib/config/values/group-version.ts";
import type { Manifest } from "../objects/vocabulary.ts";
import { kubernetesSchemas } from "./kubernetes-shapes.ts";
import { createShapeReader, type FieldPath, leavesOf, type Shape } from "./shape.ts";

/** A kind of object, and all that may be edited in one. */
export interface EditableKind {
  /** `networking.istio.io/VirtualService`, `/Pod`; `mesh.yaml` and `networks.yaml` for the settings of those files. */
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the whole object without its metadata. */
  readonly shape: Shape;
  readonly leaves: readonly FieldPath[];
}

function editable(apiVersion: string, kind: string, shape: Shape): EditableKind {
  const name = apiVersion === "" ? kind : `${groupVersion(apiVersion).group}/${kind}`;
  return { name, apiVersion, kind, shape, leaves: leavesOf(shape) };
}

const shapeOf = createShapeReader();
const specOf = (shape: Shape): Shape => ({ kind: "message", fields: new Map([["spec", shape]]), required: new Set() });

/** Every kind that the compiler reads, and the two files of settings. */
export const editableKinds: readonly EditableKind[] = [
  ...kindSchemas.map(({ group, versions, kind, schema }) =>
    editable(`${group}/${versions[0] ?? ""}`, kind, specOf(shapeOf(schema))),
  ),
  ...kubernetesSchemas.map(([apiVersion, kind, schema]) => editable(apiVersion, kind, shapeOf(schema))),
];

export const meshKind: EditableKind = editable("", "mesh.yaml", shapeOf(meshConfig));
export const networksKind: EditableKind = editable("", "networks.yaml", shapeOf(meshNetworks));

const byName: ReadonlyMap<string, EditableKind> = new Map(editableKinds.map((kind) => [kind.name, kind]));

/** The kind of an object under today's name of its group; undefined for one that the compiler does not read. */
export function kindOf({ apiVersion, kind }: Pick<Manifest, "apiVersion" | "kind">): EditableKind | undefined {
  return byName.get(`${groupVersion(apiVersion).group}/${kind}`);
}
