import type { Dice } from "../objects/dice.ts";
import type { EditableKind } from "./kinds.ts";
import type { FieldPath, Shape } from "./shape.ts";
import { fieldName, fieldsOf, holds, listOf, type ValuePool } from "./value-pool.ts";

/** What a random change chooses from. */
export interface Choice {
  readonly dice: Dice;
  readonly kind: EditableKind;
  readonly pool: ValuePool;
}

/**
 * A value that says something else at a place, with everything above it made as needed. It need not be valid: whoever asks
 * tries again.
 *
 * @param rest from the value to the place that changes
 * @param at from the object to the value
 * @returns undefined where the value goes
 */
export function changeAt(choice: Choice, shape: Shape, value: unknown, rest: FieldPath, at: FieldPath = []): unknown {
  const { dice, kind, pool } = choice;
  const [step, ...below] = rest;
  if (step === undefined) return otherValue(choice, shape, value, at);
  if (value !== undefined && at.length > 1 && dice.chance(4)) return undefined;
  if (at.length > 0 && dice.chance(value === undefined ? 50 : 12)) {
    const seen = [...pool.at(kind, at), ...pool.like(shape)].filter((known) => holds(known, rest));
    if (seen.length > 0) return dice.pick(seen);
  }
  // Made anew, a message has nothing beside the place: what excludes it is gone.
  const from = at.length > 0 && dice.chance(12) ? undefined : value;
  switch (shape.kind) {
    case "message": {
      const field = shape.fields.get(step);
      if (field === undefined) return from;
      const fields = fieldsOf(from);
      const changed = changeAt(choice, field, fields[step], below, [...at, step]);
      const { [step]: _, ...others } = fields;
      return {
        ...requiredOf(choice, shape, others, at),
        ...others,
        ...(changed === undefined ? {} : { [step]: changed }),
      };
    }
    case "list":
      return changedList(choice, shape.element, listOf(from), below, [...at, "[]"]);
    case "map":
      return changedMap(choice, shape.value, fieldsOf(from), below, [...at, "{}"]);
    default:
      return from;
  }
}

/** Values for the required fields that are not there. */
function requiredOf(
  choice: Choice,
  shape: Shape & { readonly kind: "message" },
  fields: Readonly<Record<string, unknown>>,
  at: FieldPath,
): Readonly<Record<string, unknown>> {
  const missing = [...shape.fields].filter(([name]) => shape.required.has(name) && fields[name] === undefined);
  return Object.fromEntries(missing.map(([name, field]) => [name, anyValue(choice, field, [...at, name])]));
}

function changedList(
  choice: Choice,
  element: Shape,
  list: readonly unknown[],
  below: FieldPath,
  at: FieldPath,
): readonly unknown[] {
  const { dice } = choice;
  const made = (value: unknown) => changeAt(choice, element, value, below, at);
  const index = dice.int(list.length);
  if (list.length === 0 || dice.chance(15))
    return defined([...list.slice(0, index), made(undefined), ...list.slice(index)]);
  if (list.length > 1 && dice.chance(10)) return list.filter((_, position) => position !== index);
  if (list.length > 1 && dice.chance(8)) return [...list.slice(1), ...list.slice(0, 1)];
  return defined(list.map((value, position) => (position === index ? made(value) : value)));
}

const defined = (list: readonly unknown[]): readonly unknown[] => list.filter((value) => value !== undefined);

function changedMap(
  choice: Choice,
  member: Shape,
  map: Readonly<Record<string, unknown>>,
  below: FieldPath,
  at: FieldPath,
): Readonly<Record<string, unknown>> {
  const { dice, kind, pool } = choice;
  const seen = pool.at(kind, at.slice(0, -1)).flatMap((known) => Object.keys(fieldsOf(known)));
  const own = Object.keys(map);
  const key = own.length > 0 && dice.chance(60) ? dice.pick(own) : dice.pick(seen.length > 0 ? seen : ["x-one", "app"]);
  const { [key]: value, ...others } = map;
  const changed = changeAt(choice, member, value, below, at);
  return changed === undefined ? others : { ...others, [key]: changed };
}

/** Another value than there is; at times none. */
function otherValue(choice: Choice, shape: Shape, value: unknown, at: FieldPath): unknown {
  if (value !== undefined && choice.dice.chance(15)) return undefined;
  const text = JSON.stringify(value);
  for (let attempt = 0; attempt < 8; attempt++) {
    const made = anyValue(choice, shape, at);
    if (JSON.stringify(made) !== text) return made;
  }
  return value;
}

function anyValue(choice: Choice, shape: Shape, at: FieldPath): unknown {
  const { dice, kind, pool } = choice;
  const source = dice.int(10);
  const seen =
    source < 5 ? pool.at(kind, at) : source < 8 ? pool.called(fieldName(at)).filter((known) => fits(shape, known)) : [];
  return seen.length > 0 ? dice.pick(seen) : freeValue(choice, shape, at);
}

/** Whether a scalar may stand where the shape is. */
function fits(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "enum":
      return typeof value === "string" && shape.values.includes(value);
    case "flag":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number";
    case "text":
    case "duration":
      return typeof value === "string";
    default:
      return false;
  }
}

/** A value that the shape allows, whatever it means. */
function freeValue(choice: Choice, shape: Shape, at: FieldPath): unknown {
  const { dice } = choice;
  switch (shape.kind) {
    case "message":
      return requiredOf(choice, shape, {}, at);
    case "list":
      return [anyValue(choice, shape.element, [...at, "[]"])];
    case "map":
      return {
        [dice.pick(["a", "b"])]:
          shape.value.kind === "free" ? dice.int(9) : anyValue(choice, shape.value, [...at, "{}"]),
      };
    case "enum":
      return dice.pick(shape.values);
    case "flag":
      return dice.chance(50);
    case "number":
      return dice.pick(numbers);
    case "duration":
      return dice.pick(durations);
    case "text":
      return dice.pick(texts);
    case "free":
      return { note: dice.int(9) };
  }
}

const numbers = [0, 1, 2, 3, 5, 7, 10, 25, 42, 50, 80, 100, 200, 443, 503, 1024, 8080, 9090, 15443, 30000] as const;
const durations = ["0s", "0.25s", "1s", "2.5s", "7s", "30s", "1m", "1h"] as const;
const texts = [
  "",
  "a",
  "x",
  "v1",
  "v2",
  "*",
  ".",
  "/x",
  "www.example.com",
  "10.0.0.7",
  "10.0.0.0/8",
  "[a-z]+",
  "HTTP",
  "TCP",
] as const;
