/**
 * Says once what repeats in the expected files of a suite. An object or a list that stands in several places becomes a *part*,
 * called after what it is and its content; the places refer to it. A part that only one case has stays with that case, the
 * others are the suite's. What comes out depends on the cases alone, not on their order.
 */

import { byCodePoint } from "../../../lib/base/diagnostic.ts";
import { canonicalJson, sha256 } from "../../../lib/config/canonical-json.ts";
import { isArray, isObject, type Json } from "../json.ts";
import type { AbridgedSuite, Expected } from "./expected.ts";
import { mapValues, withMembers } from "./members.ts";
import { referenceTo, referredPart } from "./part-reference.ts";

/** Characters of JSON below which a repetition is easier to read than a reference. */
const smallestPart = 400;

/** All objects or lists of one type of resource that are equal. */
interface Shape {
  readonly text: string;
  readonly value: Json;
  readonly members: readonly Shape[];
  /** Where it would stand if every shape were written once. */
  places: number;
  /** What it may be called. */
  readonly labels: Set<string>;
  readonly cases: Set<string>;
}

/**
 * @param suite what was answered, by case
 * @throws when a value of an answer looks like a reference
 */
export function shareParts(suite: ReadonlyMap<string, Expected>): AbridgedSuite {
  const sorted = new Map([...suite].sort(([a], [b]) => byCodePoint(a, b)));
  const types = new Set([...sorted.values()].flatMap((expected) => Object.values(expected).flatMap(Object.keys)));
  const byType = new Map([...types].sort(byCodePoint).map((type) => [type, partsOfType(sorted, type)]));
  const partsOf = (isMine: (cases: ReadonlySet<string>) => boolean) =>
    Object.fromEntries(
      [...byType].flatMap(([type, { parts, abridged }]) => {
        const mine = [...parts].filter(([, shape]) => isMine(shape.cases));
        const bodies = mine.map(([name, { value }]) => [name, withMembers(value, abridged)] as const);
        return bodies.length === 0 ? [] : [[type, Object.fromEntries(bodies)]];
      }),
    );
  const cases = [...sorted].map(([name, expected]) => {
    const parts = partsOf((inCases) => inCases.size === 1 && inCases.has(name));
    const answers = mapValues(expected, (files) =>
      mapValues(files, (file, type) => withMembers(file, byType.get(type)?.abridged ?? ((resource) => resource))),
    );
    return [name, Object.keys(parts).length === 0 ? { answers } : { answers, parts }] as const;
  });
  return { parts: partsOf((inCases) => inCases.size > 1), cases: new Map(cases) };
}

/** The parts that the files of one type need, by name, and what stands for a resource or for anything in it. */
function partsOfType(suite: ReadonlyMap<string, Expected>, type: string) {
  const { shapes, shapeOf } = shapesOfType(suite, type);
  const names = new Map<Shape, string>();
  const parts = new Map<string, Shape>();
  for (const shape of shapes) {
    if (shape.places < 2 || shape.text.length < smallestPart) continue;
    const name = partName(shape);
    if (parts.has(name)) throw new Error(`two different parts are called ${name}`);
    names.set(shape, name);
    parts.set(name, shape);
  }
  const abridged = (value: Json): Json => {
    const shape = shapeOf.get(value);
    if (shape === undefined) return value;
    const name = names.get(shape);
    return name === undefined ? withMembers(shape.value, abridged) : referenceTo(name);
  };
  return { parts, abridged };
}

function shapesOfType(suite: ReadonlyMap<string, Expected>, type: string) {
  const shapes = new Map<string, Shape>();
  const shapeOf = new Map<Json, Shape>();
  const noted = (value: Json, label: string, inCase: string): Shape => {
    if (referredPart(value) !== undefined) throw new Error(`${inCase}: a value looks like a reference to a part`);
    const text = canonicalJson(value);
    const known = shapes.get(text);
    const shape = known ?? {
      text,
      value,
      members: composites(value, label).map(([name, member]) => noted(member, name, inCase)),
      places: 0,
      labels: new Set(),
      cases: new Set(),
    };
    if (known === undefined) for (const member of shape.members) member.places += 1;
    shapes.set(text, shape);
    shapeOf.set(value, shape);
    shape.labels.add(label);
    markCase(shape, inCase);
    return shape;
  };
  for (const [name, expected] of suite) {
    for (const proxy of Object.keys(expected).sort(byCodePoint)) {
      for (const [label, resource] of composites(expected[proxy]?.[type] ?? [], type)) {
        noted(resource, label, name).places += 1;
      }
    }
  }
  return { shapes: shapes.values(), shapeOf };
}

function markCase(shape: Shape, name: string): void {
  if (shape.cases.has(name)) return;
  shape.cases.add(name);
  for (const member of shape.members) markCase(member, name);
}

/** Objects and lists directly in a value, each with what it may be called: its own name, or the field that it stands in. */
function composites(value: Json, label: string): readonly (readonly [label: string, member: Json])[] {
  const members = isArray(value) ? value.map((member) => [nameIn(member) ?? label, member] as const) : entriesOf(value);
  return members.filter(([, member]) => isArray(member) || isObject(member));
}

const entriesOf = (value: Json) => (isObject(value) ? Object.entries(value) : []);

function nameIn(value: Json): string | undefined {
  if (!isObject(value)) return undefined;
  const { name = value.clusterName } = value;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function partName({ labels, text }: Shape): string {
  const [label = ""] = [...labels].sort(byCodePoint);
  return `${label.slice(0, 60)}-${sha256(text).slice(0, 8)}`;
}
