import { isArray, isObject, type Json } from "./json.ts";

/** One place where two JSON values differ. */
export interface Difference {
  /** `$["name"].filterChains[2].filters`: resources by name, all else by key or index. */
  readonly path: string;
  /** undefined: not in the expected file. */
  readonly expected: Json | undefined;
  /** undefined: not generated. */
  readonly actual: Json | undefined;
}

/** Differences of two resource files; resources are told apart by name, so a missing one does not shift the rest. */
export function fileDifferences(expected: Json, actual: Json): readonly Difference[] {
  if (!isArray(expected) || !isArray(actual)) return differences("$", expected, actual);
  const wanted = byName(expected);
  const made = byName(actual);
  const names = [...wanted.keys(), ...[...made.keys()].filter((name) => !wanted.has(name))];
  return names.flatMap((name) => differences(`$[${JSON.stringify(name)}]`, wanted.get(name), made.get(name)));
}

/** Resources by name; a name that occurs again gets a `#2`, so that duplicates count as differences. */
function byName(resources: readonly Json[]): ReadonlyMap<string, Json> {
  const result = new Map<string, Json>();
  for (const resource of resources) {
    const named = isObject(resource) ? (resource.name ?? resource.clusterName) : undefined;
    const name = typeof named === "string" ? named : "";
    let key = name;
    for (let count = 2; result.has(key); count += 1) key = `${name}#${count}`;
    result.set(key, resource);
  }
  return result;
}

function differences(path: string, expected: Json | undefined, actual: Json | undefined): readonly Difference[] {
  if (isArray(expected) && isArray(actual)) {
    return Array.from({ length: Math.max(expected.length, actual.length) }).flatMap((_, index) =>
      differences(`${path}[${index}]`, expected[index], actual[index]),
    );
  }
  if (isObject(expected) && isObject(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => differences(memberPath(path, key), expected[key], actual[key]));
  }
  return expected === actual ? [] : [{ path, expected, actual }];
}

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
