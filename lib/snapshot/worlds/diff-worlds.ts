import { byCodePoint } from "../../base/diagnostic.ts";
import {
  type CompiledClass,
  type CompiledList,
  type CompiledPart,
  type CompiledResource,
  type CompiledWorld,
  listIn,
  resourcesIn,
} from "../compiled.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { type ResourceType, resourceTypes, type ShapeName, shapes } from "../resource-type.ts";
import { diffJson, type JsonChange } from "./diff-json.ts";
import { createDifferingLists, type DifferingPart } from "./differing-lists.ts";
import { type ClassMove, movedClasses } from "./moved-classes.ts";

export interface WorldDiff {
  /** Classes of proxies that had none before. */
  readonly classesAdded: readonly string[];
  /** Classes whose proxies have none now. */
  readonly classesRemoved: readonly string[];
  /** Other classes for the same proxies: what differs between them is among the resources, under the class of now. */
  readonly classesMoved: readonly ClassMove[];
  /** By type in serving order, then name. A class that comes or goes is not listed resource by resource. */
  readonly resources: readonly ResourceDiff[];
}

/** The same change, told once for all classes in which it happens, and for both shapes where it is the same in both. */
export interface ResourceDiff {
  readonly type: ResourceType;
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
  readonly classes: readonly string[];
  readonly shapes: readonly ShapeName[];
  /** Objects that the resource is, or was, made from. */
  readonly from: readonly string[];
  /** For a changed resource, the places that differ in the first of the shapes. */
  readonly places: readonly JsonChange[];
}

interface Found {
  readonly type: ResourceType;
  readonly before: CompiledResource | undefined;
  readonly after: CompiledResource | undefined;
  readonly classes: Set<string>;
  readonly shapes: Set<ShapeName>;
}

/** What differs between two worlds. Parts that are the same object are not looked at. */
export function diffWorlds(before: CompiledWorld, after: CompiledWorld): WorldDiff {
  const earlier = new Map(before.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  const later = new Map(after.classes.map((proxyClass) => [proxyClass.id, proxyClass]));
  const moves = movedClasses(before, after);
  const found = new Map<string, Found>();
  const diffLists = createListDiff();
  for (const proxyClass of after.classes) {
    const old = earlier.get(proxyClass.id);
    if (old !== undefined) addClass(found, old, proxyClass, diffLists);
  }
  for (const move of moves) {
    const [old, now] = [earlier.get(move.before), later.get(move.after)];
    if (old !== undefined && now !== undefined) addClass(found, old, now, diffLists);
  }
  const [left, entered] = [new Set(moves.map((move) => move.before)), new Set(moves.map((move) => move.after))];
  return {
    classesAdded: after.classes.map(({ id }) => id).filter((id) => !earlier.has(id) && !entered.has(id)),
    classesRemoved: before.classes.map(({ id }) => id).filter((id) => !later.has(id) && !left.has(id)),
    classesMoved: moves,
    resources: [...found.values()].sort(inOrder).map(toDiff),
  };
}

type Pair = readonly [CompiledResource | undefined, CompiledResource | undefined];
type ListDiff = (before: CompiledList, after: CompiledList) => readonly Pair[];

function addClass(found: Map<string, Found>, before: CompiledClass, after: CompiledClass, diffLists: ListDiff): void {
  for (const shape of shapes) {
    for (const type of resourceTypes) {
      for (const [old, now] of diffLists(listIn(before[shape], type), listIn(after[shape], type))) {
        const key = [type, (now ?? old)?.name, old?.version, now?.version].join("\0");
        const entry = found.get(key) ?? { type, before: old, after: now, classes: new Set(), shapes: new Set() };
        found.set(key, entry);
        entry.classes.add(after.id);
        entry.shapes.add(shape);
      }
    }
  }
}

/** Compares two lists; parts that several classes share are compared once. */
function createListDiff(): ListDiff {
  const apart = createDifferingLists();
  const differences = memoizeEach(({ before, after }: DifferingPart) =>
    diffResources(resourcesIn(before), resourcesIn(after)),
  );
  return (before, after) => apart(before, after).flatMap(differences);
}

function diffResources(before: CompiledPart, after: CompiledPart): readonly Pair[] {
  const old = new Map(before.map((resource) => [resource.name, resource]));
  const names = new Set(after.map(({ name }) => name));
  const changed = after.flatMap((now): readonly Pair[] => {
    const was = old.get(now.name);
    return was === now || was?.version === now.version ? [] : [[was, now]];
  });
  return [...changed, ...before.filter(({ name }) => !names.has(name)).map((was): Pair => [was, undefined])];
}

const changeOf = ({ before, after }: Pick<Found, "before" | "after">): ResourceDiff["change"] =>
  before === undefined ? "added" : after === undefined ? "removed" : "changed";

function toDiff(found: Found): ResourceDiff {
  const { type, before, after } = found;
  const change = changeOf(found);
  return {
    type,
    name: (after ?? before)?.name ?? "",
    change,
    classes: [...found.classes].sort(byCodePoint),
    shapes: [...found.shapes],
    from: (after ?? before)?.from ?? [],
    places: change === "changed" ? diffJson(parse(before), parse(after)) : [],
  };
}

function parse(resource: CompiledResource | undefined): unknown {
  return JSON.parse(resource?.text ?? "null");
}

function inOrder(a: Found, b: Found): number {
  const nameOf = ({ before, after }: Found) => (after ?? before)?.name ?? "";
  return resourceTypes.indexOf(a.type) - resourceTypes.indexOf(b.type) || byCodePoint(nameOf(a), nameOf(b));
}
