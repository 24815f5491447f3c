import {
  type CompiledClass,
  type CompiledList,
  type CompiledPart,
  type CompiledResource,
  type CompiledWorld,
  listIn,
  resourcesIn,
} from "../compiled.ts";
import { textsOf } from "../long/long-resource.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { memoizePairs } from "../memoize/memoize-pairs.ts";
import { type ResourceType, resourceTypes, shapes } from "../resource-type.ts";
import { storedForm } from "../reuse/stored-part.ts";
import type { Column, Columns, WorldColumns } from "./columns.ts";

/** Says what is wrong with a world as a whole; a world with problems is never published. */
export type WorldCheck = (world: CompiledWorld) => readonly string[];

const none: readonly never[] = [];

/**
 * Checks that lists are sorted and names unique, that every route table that a listener asks for exists, and that every class
 * that a node can be placed in exists. Lists, and parts of them, that were checked before are not looked at again. Neither are parts that lie in the
 * store, which were when they were written: whoever has these beside new routes sees to it that they name none that is not there.
 */
export function createWorldCheck(columns: WorldColumns): WorldCheck {
  const problemsWithin = memoizeEach((part: CompiledPart) => problemsOfNames(part.map(({ name }) => name)));
  const problemsOfOrder = memoizeEach((list: CompiledList): readonly string[] => {
    if (list.every(isStored)) return none;
    const within = list.flatMap((part) => (isStored(part) ? none : problemsWithin(part)));
    // From the end of a part to the beginning of the next.
    const between = list.flatMap((part, i) => problemsOfNames([...nameOf(list[i - 1]?.at(-1)), ...nameOf(part[0])]));
    return [...within, ...between];
  });
  const tablesAsked = memoizeEach(tablesAskedBy);
  const asked = memoizeEach((part: CompiledPart): readonly Asked[] =>
    isStored(part) ? none : part.flatMap(tablesAsked),
  );
  const tablesIn = memoizeEach((routes: CompiledList) => new Set(resourcesIn(routes).map(({ name }) => name)));
  const missing = memoizePairs((part: CompiledPart, routes: CompiledList) =>
    asked(part)
      .filter(({ table }) => !tablesIn(routes).has(table))
      .map(({ listener, table }) => `listener ${listener} asks for the routes ${table}, which do not exist`),
  );
  const missingRoutes = (listeners: CompiledList, routes: CompiledList = []): readonly string[] =>
    listeners.flatMap((part): readonly string[] => (asked(part).length === 0 ? none : missing(part, routes)));
  const isOrdered = (column: Column): boolean => column.every((list) => problemsOfOrder(list).length === 0);
  const hasRoutes = (listeners: Column, routes: Column): boolean =>
    listeners.every((list, place) => missingRoutes(list, routes[place]).length === 0);
  const classesOfNodes = memoizeEach((nodes: CompiledWorld["nodes"]) => new Set(nodes.map(({ classId }) => classId)));

  const problemsOf = (proxyClass: CompiledClass): readonly string[] =>
    shapes.flatMap((shape) => {
      const lists = proxyClass[shape];
      const ofOrder = resourceTypes.flatMap((type) =>
        problemsOfOrder(listIn(lists, type)).map((text) => `${type}: ${text}`),
      );
      return [...ofOrder, ...missingRoutes(lists.listeners, lists.routes)].map(
        (text) => `class ${proxyClass.id}, ${shape}: ${text}`,
      );
    });
  /** Of the last world whose classes were whole: what has its names is in order. */
  let whole: Columns | undefined;
  /** The last world in which all places were. */
  let settled: CompiledWorld | undefined;
  const problemsOfAllPlaces = (world: CompiledWorld): readonly string[] => {
    const isAsBefore = settled !== undefined && hasSamePlaces(settled, world);
    const problems = isAsBefore ? none : problemsOfPlaces(world, classesOfNodes(world.nodes));
    if (problems.length === 0) settled = world;
    return problems;
  };
  return (world) => {
    const found = columns.of(world);
    const isAsBefore = (type: ResourceType): boolean =>
      whole !== undefined && columns.haveSameNames(whole[type], found[type]);
    const isWhole =
      resourceTypes.every((type) => isAsBefore(type) || isOrdered(found[type])) &&
      ((isAsBefore("routes") && found.listeners === whole?.listeners) || hasRoutes(found.listeners, found.routes));
    if (isWhole) whole = found;
    const ofClasses = isWhole ? none : world.classes.flatMap(problemsOf);
    return [...ofClasses, ...problemsOfAllPlaces(world)];
  };
}

const isStored = (part: CompiledPart): boolean => storedForm(part) !== undefined;

const nameOf = (resource: CompiledResource | undefined): readonly string[] =>
  resource === undefined ? none : [resource.name];

function problemsOfNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name, i) => {
    const before = names[i - 1];
    if (before === undefined || before < name) return [];
    return [before === name ? `${name} is there twice` : `${name} is not in its place`];
  });
}

/** A listener, and a route table that it asks for. */
interface Asked {
  readonly listener: string;
  readonly table: string;
}

const routeConfigName = /"routeConfigName":("(?:[^"\\]|\\.)*")/g;

const tablesAskedBy = (listener: CompiledResource): readonly Asked[] =>
  textsOf(listener)
    .flatMap((text) => [...text.matchAll(routeConfigName)])
    .map(([, name]) => ({ listener: listener.name, table: unescape(name) }));

function unescape(text: string | undefined): string {
  const name: unknown = JSON.parse(text ?? '""');
  return typeof name === "string" ? name : "";
}

/** Whether nodes are placed in the same classes, of which there are the same. */
const hasSamePlaces = (a: CompiledWorld, b: CompiledWorld): boolean =>
  a.classifier === b.classifier &&
  a.nodes === b.nodes &&
  a.classes.length === b.classes.length &&
  a.classes.every(({ id }, at) => id === b.classes[at]?.id);

/** @param ofNodes classes of those nodes that can be found without metadata */
function problemsOfPlaces({ classes, classifier }: CompiledWorld, ofNodes: ReadonlySet<string>): readonly string[] {
  const ids = new Set(classes.map(({ id }) => id));
  const twice = classes.length === ids.size ? [] : ["two classes have one id"];
  const placed = new Set([...Object.values(classifier.classes), ...Object.values(classifier.defaults), ...ofNodes]);
  const unknown = [...placed].filter((id) => !ids.has(id)).sort();
  return [...twice, ...unknown.map((id) => `nodes are placed in class ${id}, which does not exist`)];
}
