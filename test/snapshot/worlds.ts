import { hashOf } from "../../lib/base/blob.ts";
import {
  type CompiledClass,
  type CompiledNode,
  type CompiledResource,
  type CompiledShape,
  type CompiledWorld,
  resourcesIn,
} from "../../lib/snapshot/compiled.ts";
import { type ResourceType, resourceTypes, typeUrlOf } from "../../lib/snapshot/resource-type.ts";

/** Names with content: `{"a": "1"}` is one resource named a whose text holds the 1. */
export type Contents = Readonly<Record<string, string>>;
export type ShapeContents = Partial<Readonly<Record<ResourceType, Contents>>>;

export function resource(type: ResourceType, name: string, content: string): CompiledResource {
  const text = JSON.stringify({ "@type": typeUrlOf(type), name, content });
  return { name, text, version: hashOf(text), from: [`VirtualService/default/${name}`] };
}

function shape(contents: ShapeContents): CompiledShape {
  const lists: { -readonly [T in keyof CompiledShape]: CompiledShape[T] } = {
    clusters: [],
    endpoints: [],
    listeners: [],
    routes: [],
  };
  for (const type of resourceTypes) {
    const list = Object.entries(contents[type] ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, content]) => resource(type, name, content));
    if (list.length > 0) lists[type] = [list];
  }
  return lists;
}

/** A hand-made world: classes by id, the same resources in both shapes, each class with one node `<id>.default`. */
export function worldOf(
  classes: Readonly<Record<string, ShapeContents>>,
  more: Partial<CompiledWorld> = {},
): CompiledWorld {
  const ids = Object.keys(classes).sort();
  const compiled: readonly CompiledClass[] = ids.map((id) => {
    const lists = shape(classes[id] ?? {});
    return { id, stream: lists, poll: lists };
  });
  return {
    classes: compiled,
    classifier: { attributes: ["namespace", "type"], labels: { "*": { keys: ["app"] } }, classes: {}, defaults: {} },
    nodes: ids.map((id) => ({ keys: [`${id}.default`], classId: id })),
    diagnostics: [],
    sources: [{ name: "test", version: "1" }],
    compiler: "test",
    ...more,
  };
}

/** A node with so many names that their index has more pieces than a root lists itself. */
export const manyNamed = (classId: string): CompiledNode => ({
  keys: Array.from({ length: 4_000 }, (_, i) => `${classId}-${i}.default`),
  classId,
});

/** Names and contents of one type of one class, to compare worlds by. */
export function contentsOf(world: CompiledWorld, classId: string, type: ResourceType): Contents {
  const list = world.classes.find(({ id }) => id === classId)?.poll[type] ?? [];
  return Object.fromEntries(
    resourcesIn(list).map(({ name, text }) => {
      const { content }: { readonly content: string } = JSON.parse(text);
      return [name, content];
    }),
  );
}
