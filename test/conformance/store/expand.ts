import type { Json } from "../json.ts";
import type { AbridgedCase, Expected, Parts } from "./expected.ts";
import { mapValues, withMembers } from "./members.ts";
import { referredPart } from "./part-reference.ts";

/**
 * The answers of a case in full.
 *
 * @param shared the parts of its suite
 * @throws when a part is referred to that is not there, or that contains itself
 */
export function expandCase({ answers, parts = {} }: AbridgedCase, shared: Parts): Expected {
  const expanders = new Map<string, (value: Json) => Json>();
  const expand = (file: Json, type: string): Json => {
    const known = expanders.get(type) ?? expandWith({ ...shared[type], ...parts[type] });
    expanders.set(type, known);
    return known(file);
  };
  return mapValues(answers, (files) => mapValues(files, expand));
}

function expandWith(parts: Readonly<Record<string, Json>>): (value: Json) => Json {
  const done = new Map<string, Json>();
  const under = new Set<string>();
  const expand = (value: Json): Json => {
    const name = referredPart(value);
    if (name === undefined) return withMembers(value, expand);
    const known = done.get(name);
    if (known !== undefined) return known;
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (part === undefined) throw new Error(`there is no part ${name}`);
    if (under.has(name)) throw new Error(`the part ${name} contains itself`);
    under.add(name);
    const whole = expand(part);
    done.set(name, whole);
    return whole;
  };
  return expand;
}
