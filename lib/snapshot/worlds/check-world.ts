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
import { type ResourceType, resourceTypes, shapes } from "../resource-type.ts";
import { storedForm } from "../standing/stored-part.ts";

/** Says what is wrong with a world as a whole; a world with problems is never published. */
export type WorldCheck = (world: CompiledWorld) => readonly string[];

/**
 * Checks that lists are sorted and names unique, that every route table that a listener asks for exists, and that every class
 * that a node can be placed in exists. Parts of lists that were checked before are not looked at again: neither are those that lie in the
 * store, which were when they were written. Whoever has these beside new routes sees to it that they name none that is not there.
 */
export function createWorldCheck(): WorldCheck {
  const orders = new WeakMap<CompiledPart | CompiledList, readonly string[]>();
  const mentions = new WeakMap<CompiledResource, readonly string[]>();
  const tables = new WeakMap<CompiledList, ReadonlySet<string>>();
  const resolved = new WeakMap<CompiledPart, WeakSet<CompiledList>>();
  /** Classes of the last world that were whole, by id: what a class of the next has of them is not looked at. */
  let whole: ReadonlyMap<string, CompiledClass> = new Map();

  function problemsWithin(part: CompiledPart): readonly string[] {
    if (storedForm(part) !== undefined) return [];
    const known = orders.get(part) ?? problemsOfNames(part.map(({ name }) => name));
    orders.set(part, known);
    return known;
  }

  function problemsOfOrder(list: CompiledList): readonly string[] {
    if (list.every((part) => storedForm(part) !== undefined)) return [];
    const known = orders.get(list) ?? findProblems(list);
    orders.set(list, known);
    return known;
  }

  function findProblems(list: CompiledList): readonly string[] {
    const ends = list.flatMap((part) => (part.length === 0 ? [] : [part[0]?.name ?? "", part.at(-1)?.name ?? ""]));
    // From the end of a part to the beginning of the next.
    const between = ends.flatMap((name, i) => (i % 2 === 0 && i > 0 ? problemsOfNames([ends[i - 1] ?? "", name]) : []));
    return [...list.flatMap(problemsWithin), ...between];
  }

  function routeNames(listener: CompiledResource): readonly string[] {
    const known =
      mentions.get(listener) ??
      textsOf(listener).flatMap((text) => [...text.matchAll(routeConfigName)].map(([, name]) => unescape(name)));
    mentions.set(listener, known);
    return known;
  }

  function missingRoutes(listeners: CompiledPart, routes: CompiledList): readonly string[] {
    if (storedForm(listeners) !== undefined || resolved.get(listeners)?.has(routes)) return [];
    const there = tables.get(routes) ?? new Set(resourcesIn(routes).map(({ name }) => name));
    tables.set(routes, there);
    const missing = listeners.flatMap((listener) =>
      routeNames(listener)
        .filter((name) => !there.has(name))
        .map((name) => `listener ${listener.name} asks for the routes ${name}, which do not exist`),
    );
    if (missing.length === 0) resolved.set(listeners, (resolved.get(listeners) ?? new WeakSet()).add(routes));
    return missing;
  }

  function isWhole(proxyClass: CompiledClass): boolean {
    const before = whole.get(proxyClass.id);
    return shapes.every((shape) => {
      const [lists, known] = [proxyClass[shape], before?.[shape]];
      const isKnown = (type: ResourceType): boolean => known !== undefined && lists[type] === known[type];
      if (!resourceTypes.every((type) => isKnown(type) || problemsOfOrder(listIn(lists, type)).length === 0))
        return false;
      if (isKnown("listeners") && isKnown("routes")) return true;
      return lists.listeners.every((part) => missingRoutes(part, lists.routes).length === 0);
    });
  }

  const problemsOf = (proxyClass: CompiledClass): readonly string[] =>
    shapes.flatMap((shape) =>
      [
        ...resourceTypes.flatMap((type) =>
          problemsOfOrder(listIn(proxyClass[shape], type)).map((text) => `${type}: ${text}`),
        ),
        ...proxyClass[shape].listeners.flatMap((part) => missingRoutes(part, proxyClass[shape].routes)),
      ].map((text) => `class ${proxyClass.id}, ${shape}: ${text}`),
    );

  return (world) => {
    const passed = new Map<string, CompiledClass>();
    const problems = world.classes.flatMap((proxyClass) => {
      if (!isWhole(proxyClass)) return problemsOf(proxyClass);
      passed.set(proxyClass.id, proxyClass);
      return [];
    });
    whole = passed;
    return [...problems, ...problemsOfClasses(world)];
  };
}

function problemsOfNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name, i) => {
    const before = names[i - 1];
    if (before === undefined || before < name) return [];
    return [before === name ? `${name} is there twice` : `${name} is not in its place`];
  });
}

const routeConfigName = /"routeConfigName":("(?:[^"\\]|\\.)*")/g;

function unescape(text: string | undefined): string {
  const name: unknown = JSON.parse(text ?? '""');
  return typeof name === "string" ? name : "";
}

function problemsOfClasses({ classes, classifier, nodes }: CompiledWorld): readonly string[] {
  const ids = new Set(classes.map(({ id }) => id));
  const twice = classes.length === ids.size ? [] : ["two classes have one id"];
  const placed = [
    ...Object.values(classifier.classes),
    ...Object.values(classifier.defaults),
    ...nodes.map(({ classId }) => classId),
  ];
  const unknown = [...new Set(placed)].filter((id) => !ids.has(id)).sort();
  return [...twice, ...unknown.map((id) => `nodes are placed in class ${id}, which does not exist`)];
}
