import type { Diagnostic } from "../../base/diagnostic.ts";
import { column } from "../../incremental/column.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { ProxyClass } from "../../mesh/classes/enter-classes.ts";
import { columnsOf, type EnvoyViews } from "../../mesh/views/view-columns.ts";
import {
  type CompiledClass,
  type CompiledList,
  type CompiledShape,
  lengthOf,
  listIn,
  noList,
} from "../../snapshot/compiled.ts";
import { type ExtraType, extraTypes, type ResourceType, type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import { storedForm } from "../../snapshot/reuse/stored-part.ts";
import { isOfWorkload } from "../../snapshot/segment.ts";
import { clustersOf, listenersOf, routesOf, tablesAsked, unitsOfEnvoys } from "../../xds/generate.ts";
import { noResources, type Parted } from "../../xds/resource.ts";
import { type GeneratedColumns, type OfUnits, ofUnits, typesOf, type Unit, unitOf, units } from "../../xds/units.ts";
import { type ClassForm, type CompiledColumns, compileUnits, type OfClass } from "../compile-units.ts";
import { joinStored, ownPartsOf } from "./join-stored.ts";
import { type ReusableClass, type ReusableResults, reusableUnits } from "./reusable.ts";
import { storedTables } from "./stored-tables.ts";

/** A class of Envoys of which some units are reused and some compiled. */
interface PartlyReused {
  readonly id: string;
  readonly views: EnvoyViews;
  readonly before: EnvoyViews;
  readonly stored: ReusableClass;
  /** Units that are compiled again. */
  readonly wanted: readonly Unit[];
}

const slot = "beside";

/**
 * Compiles only the units of classes that cannot be reused. Of a unit that is compiled again, the resources of the class's own workload are
 * still reused if they are unchanged.
 *
 * @param form of the classes of Envoys
 * @returns by id; without classes that have nothing to reuse, or whose stored results do not fit the compiled ones
 */
export function reuseClasses(
  classes: readonly ProxyClass[],
  form: ClassForm,
  reusable: ReusableResults,
  memo: Memo,
): ReadonlyMap<string, OfClass> {
  const found = new Map<string, OfClass>();
  const partial: PartlyReused[] = [];
  for (const { id, views } of classes) {
    const stored = reusable.classes.get(id);
    if (stored === undefined) continue;
    const kept = reusableUnits(views, stored);
    const wanted = units.filter((unit) => !kept.includes(unit));
    if (wanted.length === 0) found.set(id, { value: stored.compiled, reported: stored.reported });
    else if (views.kind === "envoy" && stored.views.kind === "envoy")
      partial.push({ id, views, before: stored.views, stored, wanted });
  }
  const own = { clusters: reusableOwn("clusters", partial, memo), listeners: reusableOwn("listeners", partial, memo) };
  const tables = tablesOf(partial, memo);
  const namesOf = ({ id }: PartlyReused): readonly string[] => tables.get(id) ?? [];
  const made = ofUnits((unit) => {
    const changed = partial.filter(({ wanted }) => wanted.includes(unit));
    const views = columnsOf(changed.map((of) => of.views));
    const stands = unit === "clusters" || unit === "listeners" ? own[unit] : undefined;
    const generated =
      unit === "routes"
        ? routesOf(views.routes, changed.map(namesOf), memo, slot)
        : withoutOwn(
            unitsOfEnvoys[unit](views, memo, slot),
            changed.map(({ id }) => stands?.has(id) === true),
          );
    const compiled = compileUnits(memo, { unit, generated, form, slot });
    return new Map(changed.map(({ id }, at) => [id, listsAt(unit, compiled, at)]));
  });
  const joined = partlyStored(memo, slot, {
    stored: partial.map(({ stored }) => stored),
    ...ofUnits((unit) => partial.map(({ id }) => made[unit].get(id))),
    clustersStand: partial.map(({ id }) => own.clusters.has(id)),
    listenersStand: partial.map(({ id }) => own.listeners.has(id)),
  });
  for (const [at, { id }] of partial.entries()) {
    const [of, names] = [joined[at], tables.get(id)];
    if (of !== undefined && (names === undefined || hasTables(of.value, names, memo))) found.set(id, of);
  }
  return found;
}

/** By id, of the classes whose routes are made again, the tables that their listeners ask for. Listeners that stand need not be made for that. */
function tablesOf(partial: readonly PartlyReused[], memo: Memo): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  const others: PartlyReused[] = [];
  for (const of of partial.filter(({ wanted }) => wanted.includes("routes"))) {
    const { routes } = of.stored.compiled.stream;
    const stored = of.wanted.includes("listeners") ? undefined : storedTables(memo, { routes });
    if (stored === undefined) others.push(of);
    else tables.set(of.id, stored);
  }
  const listeners = others.map(({ views }) => views.listeners);
  for (const [at, names] of tablesAsked(listeners, memo, slot).entries()) tables.set(others[at]?.id ?? "", names);
  return tables;
}

type WithOwn = "clusters" | "listeners";

const sidesOf = {
  clusters: (views: readonly EnvoyViews[], memo: Memo, place: string): readonly Parted[] => {
    const { shared, own } = clustersOf(columnsOf(views), memo, place);
    return shared.map((side, at) => ({ shared: side, own: own[at] ?? noResources }));
  },
  listeners: (views: readonly EnvoyViews[], memo: Memo): readonly Parted[] =>
    views.map(({ listeners }) => listenersOf(memo, { view: listeners }).value),
};

/** The classes of which what they have of their own workload in a unit comes to the resources of before, all of which were stored. */
function reusableOwn(unit: WithOwn, partial: readonly PartlyReused[], memo: Memo): ReadonlySet<string> {
  const changed = partial.filter(({ wanted }) => wanted.includes(unit));
  const sides = sidesOf[unit];
  const now = sides(
    changed.map(({ views }) => views),
    memo,
    slot,
  );
  const then = sides(
    changed.map(({ before }) => before),
    memo,
    `${slot}|before`,
  );
  const stands = ({ stored }: PartlyReused, at: number): boolean => {
    const [after, before] = [now[at], then[at]];
    if (after === undefined || after.own.length === 0 || after.own !== before?.own) return false;
    if (unit === "clusters" && after.own.some(({ json }) => "edsClusterConfig" in json)) return false;
    if (![after, before].every(({ shared, own }) => isApart(memo, { shared, own }))) return false;
    return shapes.every((shape) => lengthOf(ownPartsOf(stored.compiled[shape][unit])) === after.own.length);
  };
  return new Set(changed.filter(stands).map(({ id }) => id));
}

/** Whether names tell a class's own resources from what it shares. */
const isApart = query(
  "own resources apart",
  ({ shared, own }: Parted): boolean =>
    own.every(({ name }) => isOfWorkload(name)) && !shared.some(({ name }) => isOfWorkload(name)),
);

/** Without the own resources of the classes of which these stand. */
function withoutOwn(generated: GeneratedColumns, stands: readonly boolean[]): GeneratedColumns {
  const { shared, own } = generated.first;
  return { ...generated, first: { shared, own: own.map((side, at) => (stands[at] === true ? noResources : side)) } };
}

/** What is made of one unit of a class. */
interface MadeUnit {
  readonly lists: Readonly<Record<ShapeName, Readonly<Partial<Record<ResourceType, CompiledList>>>>>;
  readonly diagnostics: readonly Diagnostic[];
}

function listsAt(unit: Unit, { first, second, diagnostics }: CompiledColumns, at: number): MadeUnit {
  const [firstType, secondType] = typesOf[unit];
  const inShape = (shape: ShapeName) => ({
    [firstType]: first[shape][at],
    ...(secondType === undefined ? {} : { [secondType]: second?.[shape][at] }),
  });
  return { lists: { stream: inShape("stream"), poll: inShape("poll") }, diagnostics: diagnostics[at] ?? [] };
}

/** What is made of a class; undefined for a unit that stands. */
interface PartlyMade extends OfUnits<MadeUnit | undefined> {
  readonly stored: ReusableClass;
  /** Whether of what is made the own side stands. */
  readonly clustersStand: boolean;
  readonly listenersStand: boolean;
}

const partlyStored = column(
  "classes that are partly stored",
  ["stored", "clusters", "listeners", "routes", "names", "clustersStand", "listenersStand"],
  ({ stored, ...made }: PartlyMade, memo: Memo): OfClass | undefined => {
    const shapeOf = (shape: ShapeName): CompiledShape | undefined => {
      const then = stored.compiled[shape];
      const listOf = (type: ResourceType): CompiledList => {
        const now = made[unitOf[type]];
        return now === undefined ? listIn(then, type) : (now.lists[shape][type] ?? noList);
      };
      const joined = (unit: WithOwn, stands: boolean): CompiledList | undefined =>
        stands ? joinStored(memo, { shared: listOf(unit), own: ownPartsOf(then[unit]) }) : listOf(unit);
      const clusters = joined("clusters", made.clustersStand);
      const listeners = joined("listeners", made.listenersStand);
      if (clusters === undefined || listeners === undefined) return undefined;
      const extras = extraTypes.flatMap((type): readonly (readonly [ExtraType, CompiledList])[] => {
        const list = listOf(type);
        return list.length === 0 ? [] : [[type, list]];
      });
      return {
        clusters,
        endpoints: listOf("endpoints"),
        listeners,
        routes: listOf("routes"),
        ...Object.fromEntries(extras),
      };
    };
    const [stream, poll] = [shapeOf("stream"), shapeOf("poll")];
    if (stream === undefined || poll === undefined) return undefined;
    return {
      value: { id: stored.compiled.id, stream, poll },
      reported: ofUnits((unit) => made[unit]?.diagnostics ?? stored.reported[unit]),
    };
  },
);

/** Whether every table is there that a class's listeners ask for, stored listeners among them: nobody looks into these any more. */
function hasTables({ stream, poll }: CompiledClass, names: readonly string[], memo: Memo): boolean {
  return [stream, poll].every(
    ({ listeners, routes }) =>
      listeners.every((part) => storedForm(part) === undefined) || holdsNames(memo, { routes, names }),
  );
}

const holdsNames = query(
  "tables that listeners ask for",
  ({ routes, names }: { readonly routes: CompiledList; readonly names: readonly string[] }): boolean => {
    const there = new Set(routes.flat().map(({ name }) => name));
    return names.every((name) => there.has(name));
  },
);
