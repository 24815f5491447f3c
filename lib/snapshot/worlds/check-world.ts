import type { CompiledClass, CompiledResource, CompiledWorld } from "../compiled.ts";
import { resourceTypes, shapes } from "../resource-type.ts";

type ResourceList = readonly CompiledResource[];

/** Says what is wrong with a world as a whole; a world with problems is never published. */
export type WorldCheck = (world: CompiledWorld) => readonly string[];

/**
 * Checks that lists are sorted and names unique, that every route table that a listener asks for exists, and that every class
 * that a node can be placed in exists. Lists that were checked before are not looked at again.
 */
export function createWorldCheck(): WorldCheck {
  const orders = new WeakMap<ResourceList, readonly string[]>();
  const mentions = new WeakMap<CompiledResource, readonly string[]>();
  const resolved = new WeakMap<ResourceList, WeakSet<ResourceList>>();

  function problemsOfOrder(list: ResourceList): readonly string[] {
    const known = orders.get(list);
    if (known !== undefined) return known;
    const problems: string[] = [];
    let before: string | undefined;
    for (const { name } of list) {
      if (before === name) problems.push(`${name} is there twice`);
      else if (before !== undefined && before > name) problems.push(`${name} is not in its place`);
      before = name;
    }
    orders.set(list, problems);
    return problems;
  }

  function routeNames(listener: CompiledResource): readonly string[] {
    const known =
      mentions.get(listener) ?? [...listener.text.matchAll(routeConfigName)].map(([, name]) => unescape(name));
    mentions.set(listener, known);
    return known;
  }

  function missingRoutes(listeners: ResourceList, routes: ResourceList): readonly string[] {
    if (resolved.get(listeners)?.has(routes)) return [];
    const there = new Set(routes.map(({ name }) => name));
    const missing = listeners.flatMap((listener) =>
      routeNames(listener)
        .filter((name) => !there.has(name))
        .map((name) => `listener ${listener.name} asks for the routes ${name}, which do not exist`),
    );
    if (missing.length === 0) resolved.set(listeners, (resolved.get(listeners) ?? new WeakSet()).add(routes));
    return missing;
  }

  const problemsOf = (proxyClass: CompiledClass): readonly string[] =>
    shapes.flatMap((shape) =>
      [
        ...resourceTypes.flatMap((type) => problemsOfOrder(proxyClass[shape][type]).map((text) => `${type}: ${text}`)),
        ...missingRoutes(proxyClass[shape].listeners, proxyClass[shape].routes),
      ].map((text) => `class ${proxyClass.id}, ${shape}: ${text}`),
    );

  return (world) => [...world.classes.flatMap(problemsOf), ...problemsOfClasses(world)];
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
