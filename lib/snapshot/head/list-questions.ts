import { type CompiledClass, type CompiledList, type CompiledWorld, resourcesIn } from "../compiled.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { type ResourceType, type ShapeName, shapes } from "../resource-type.ts";
import type { WorldColumns } from "../worlds/columns.ts";
import { createDifferingLists, type DifferingPart } from "../worlds/differing-lists.ts";
import { createUnion, type Union } from "../worlds/unite-lists.ts";
import { type ClassRelations, createClassRelations } from "./history/class-relations.ts";
import { isReadyAtOnce } from "./warming.ts";

/** What is asked of lists, again and again while steps are planned; answers are remembered by the parts of the lists. */
export interface Questions {
  readonly unite: Union;
  readonly classRelations: ClassRelations;
  /** Those of some types of which a class may have other names than its relatives; the others need not be looked at. */
  readonly typesOfOtherNames: <T extends ResourceType>(
    world: CompiledWorld,
    other: CompiledWorld,
    types: readonly T[],
  ) => readonly T[];
  /** Whether a class may ask for a listener or a route table that it did not have, or had with other content. */
  readonly bringsClassTraffic: (before: CompiledClass | undefined, after: CompiledClass) => boolean;
  /** Whether a list has every name of another one. */
  readonly holds: (list: CompiledList, wanted: CompiledList) => boolean;
  /** Whether Envoy can use the clusters of a list, beside those that it has, as soon as it says that it has them. */
  readonly isReady: (clusters: CompiledList, before: CompiledList, shape: ShapeName) => boolean;
}

/** @param columns by which the worlds that are asked about were encoded */
export function createQuestions(columns: WorldColumns): Questions {
  const bringsContent = memoizeEach(({ before, after }: DifferingPart): boolean => {
    const versions = new Map(resourcesIn(before).map(({ name, version }) => [name, version]));
    return resourcesIn(after).some(({ name, version }) => versions.get(name) !== version);
  });
  const apart = createDifferingLists();
  const brings = (before: CompiledList, after: CompiledList) => apart(before, after).some(bringsContent);
  const lacks = memoizeEach(({ before, after }: DifferingPart): boolean => {
    const names = new Set(resourcesIn(before).map(({ name }) => name));
    return resourcesIn(after).some(({ name }) => !names.has(name));
  });
  const ready = new Map(
    shapes.map((shape) => [
      shape,
      memoizeEach(({ before, after }: DifferingPart) => isReadyAtOnce(resourcesIn(after), resourcesIn(before), shape)),
    ]),
  );
  const classRelations = createClassRelations();
  return {
    unite: createUnion(apart),
    classRelations,
    typesOfOtherNames: (world, other, types) => {
      if (!classRelations(world, other).areInPlace) return types;
      const [own, others] = [columns.of(world), columns.of(other)];
      return types.filter((type) => !columns.haveSameNames(own[type], others[type]));
    },
    bringsClassTraffic: (before, after) =>
      shapes.some(
        (shape) =>
          brings(before?.[shape].listeners ?? [], after[shape].listeners) ||
          brings(before?.[shape].routes ?? [], after[shape].routes),
      ),
    holds: (list, wanted) => !apart(list, wanted).some(lacks),
    isReady: (clusters, before, shape) => apart(before, clusters).every((one) => ready.get(shape)?.(one) === true),
  };
}
