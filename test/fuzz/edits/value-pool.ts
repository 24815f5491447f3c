import type { EditableKind } from "./kinds.ts";
import type { FieldPath, Shape } from "./shape.ts";

/** Values that objects have, by where they stand: what somebody wrote there once makes sense there again. */
export interface ValuePool {
  /** Values of any depth seen at a place of a kind, each once. */
  at(kind: EditableKind, path: FieldPath): readonly unknown[];
  /** Messages seen wherever messages of a shape may stand, each once. */
  like(shape: Shape): readonly unknown[];
  /** Scalars seen under a field's name in any kind, each once. */
  called(name: string): readonly unknown[];
}

/** Of more values at one place the later ones are left out. */
const maxValues = 60;

export function poolOf(objects: Iterable<readonly [kind: EditableKind, value: unknown]>): ValuePool {
  const places = new Map<string, Map<string, unknown>>();
  const shapes = new Map<Shape, Map<string, unknown>>();
  const names = new Map<string, Map<string, unknown>>();
  for (const [kind, value] of objects) {
    for (const { path, shape, value: found } of placesOf(kind.shape, value, [])) {
      enter(places, placeText(kind, path), found);
      if (shape.kind === "message") enter(shapes, shape, found);
      else if (shape.kind !== "list" && shape.kind !== "map") enter(names, fieldName(path), found);
    }
  }
  return {
    at: (kind, path) => valuesOf(places, placeText(kind, path)),
    like: (shape) => valuesOf(shapes, shape),
    called: (name) => valuesOf(names, name),
  };
}

const valuesOf = <K>(known: ReadonlyMap<K, ReadonlyMap<string, unknown>>, key: K): readonly unknown[] => [
  ...(known.get(key)?.values() ?? []),
];

/** The values of several pools, the first one's first. */
export const poolsTogether = (pools: readonly ValuePool[]): ValuePool => ({
  at: (kind, path) => pools.flatMap((pool) => pool.at(kind, path)),
  like: (shape) => pools.flatMap((pool) => pool.like(shape)),
  called: (name) => pools.flatMap((pool) => pool.called(name)),
});

const placeText = (kind: EditableKind, path: FieldPath): string => `${kind.name} ${path.join(".")}`;

/** The last name of a path; hosts of a list are called like the list. */
export const fieldName = (path: FieldPath): string => path.findLast((step) => step !== "[]" && step !== "{}") ?? "";

function enter<K>(known: Map<K, Map<string, unknown>>, key: K, value: unknown): void {
  const values = known.get(key) ?? new Map<string, unknown>();
  known.set(key, values);
  if (values.size < maxValues) values.set(JSON.stringify(value), value);
}

interface Place {
  readonly path: FieldPath;
  readonly shape: Shape;
  readonly value: unknown;
}

/** Every place of a value that is filled, the value itself first. */
export function placesOf(shape: Shape, value: unknown, path: FieldPath): readonly Place[] {
  if (value === undefined) return [];
  const here: Place = { path, shape, value };
  switch (shape.kind) {
    case "message": {
      const fields = fieldsOf(value);
      return [here, ...[...shape.fields].flatMap(([name, field]) => placesOf(field, fields[name], [...path, name]))];
    }
    case "list":
      return [here, ...listOf(value).flatMap((element) => placesOf(shape.element, element, [...path, "[]"]))];
    case "map": {
      if (shape.value.kind === "free") return [here];
      const values = Object.values(fieldsOf(value));
      return [here, ...values.flatMap((member) => placesOf(shape.value, member, [...path, "{}"]))];
    }
    default:
      return [here];
  }
}

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether a value has something at a place. */
export function holds(value: unknown, path: FieldPath): boolean {
  const [step, ...below] = path;
  if (step === undefined) return value !== undefined;
  if (step === "[]") return listOf(value).some((element) => holds(element, below));
  if (step === "{}") return Object.values(fieldsOf(value)).some((member) => holds(member, below));
  return holds(fieldsOf(value)[step], below);
}
