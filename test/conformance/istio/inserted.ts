/**
 * What Istio's answers hold for its own proxies and what `normalise.ts` takes out, as the recorded cases had it before: each filter
 * once, and for each proxy the places where it stands. With both in hand, the answers are whole again.
 */
import { canonicalJson } from "../../../lib/config/canonical-json.ts";
import { isArray, isObject, type Json, type JsonObject } from "../json.ts";
import { isForeignFilter, ordered } from "../normalise.ts";

/** A place in a resource: names and indexes with dots between. No name in it has one. */
type Place = string;

/** Filters by the name that a case calls them by. */
export type NamedFilters = Readonly<Record<string, Json>>;

/** Resources with the same filters in the same places. */
export interface InsertedFilters {
  readonly in: readonly string[];
  /** Places by filter. */
  readonly filters: Readonly<Record<string, readonly Place[]>>;
}

/** Takes the filters out of a file, and says where they stood. @param nameOf gives a filter a name, the same for equal ones */
export function takeOut(resources: Json, nameOf: (filter: JsonObject) => string): readonly InsertedFilters[] {
  const bySet = new Map<string, { readonly in: string[]; readonly filters: Record<string, Place[]> }>();
  const all = ordered(resources);
  for (const resource of isArray(all) ? all : []) {
    const filters: Record<string, Place[]> = {};
    visit(resource, [], (filter, place) => {
      const name = nameOf(filter);
      filters[name] = [...(filters[name] ?? []), place.join(".")];
    });
    if (Object.keys(filters).length === 0) continue;
    const key = canonicalJson(filters);
    const found = bySet.get(key) ?? { in: [], filters };
    bySet.set(key, found);
    found.in.push(nameIn(resource));
  }
  return [...bySet.values()];
}

type Step = string | number;

function visit(value: Json, path: readonly Step[], seen: (filter: JsonObject, place: readonly Step[]) => void): void {
  if (isArray(value)) {
    for (const [at, element] of value.entries()) {
      if (isObject(element) && isForeignFilter(element)) seen(element, [...path, at]);
      else visit(element, [...path, at], seen);
    }
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) visit(member, [...path, key], seen);
  }
}

/**
 * Puts filters back into a file that has none.
 *
 * @throws for a place that is none, a resource that is not there or a filter that nobody knows
 */
export function putBack(resources: Json, inserted: readonly InsertedFilters[], known: NamedFilters): Json {
  if (inserted.length === 0) return resources;
  const all = ordered(resources);
  const copies = new Map((isArray(all) ? all : []).map((resource) => [nameIn(resource), structuredClone(resource)]));
  for (const { in: names, filters } of inserted) {
    // An index counts those before it in its list, and a place in a filter counts those before that: outer ones first, from the front on.
    const places = Object.entries(filters).flatMap(([filter, list]) =>
      list.map((place) => ({ filter, steps: place.split(".") })),
    );
    const sorted = places.sort((a, b) => a.steps.length - b.steps.length || lastIndex(a.steps) - lastIndex(b.steps));
    for (const name of names) {
      const resource = copies.get(name);
      for (const { filter, steps } of sorted) {
        if (resource === undefined || known[filter] === undefined)
          throw new Error(`no ${name}, or no filter ${filter}`);
        insert(resource, steps, known[filter]);
      }
    }
  }
  return [...copies.values()];
}

const lastIndex = (steps: readonly string[]): number => Number(steps.at(-1));

function insert(resource: unknown, steps: readonly string[], filter: Json): void {
  let at = resource;
  const [listName = "", index = ""] = steps.slice(-2);
  for (const step of steps.slice(0, -2)) at = memberOf(at, step);
  if (typeof at !== "object" || at === null) throw new Error(`nothing at ${steps.join(".")}`);
  // A list that only such filters stood in was left out with them.
  if (!Object.hasOwn(at, listName)) Object.assign(at, { [listName]: [] });
  const list = memberOf(at, listName);
  if (!Array.isArray(list) || Number(index) > list.length) throw new Error(`no place ${steps.join(".")}`);
  list.splice(Number(index), 0, filter);
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const nameIn = (resource: Json): string =>
  isObject(resource) && typeof resource.name === "string" ? resource.name : "";
