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
import { isOfWorkload } from "../../snapshot/segment.ts";
import { storedForm } from "../../snapshot/standing/stored-part.ts";
import { clustersOf, listenersOf, routesOf, tablesAsked, unitsOfEnvoys } from "../../xds/generate.ts";
import { noResources, type Parted } from "../../xds/resource.ts";
import { type GeneratedColumns, type OfUnits, ofUnits, typesOf, type Unit, unitOf, units } from "../../xds/units.ts";
import { type ClassForm, type CompiledColumns, compileUnits, type OfClass } from "../compile-units.ts";
import { joinStored, ownPartsOf } from "./join-stored.ts";
import { type Standing, type StandingClass, unitsThatStand } from "./standing.ts";
import { storedTables } from "./stored-tables.ts";

/** A class of Envoys of which something stands, and something is made again. */
interface Partly {
  readonly id: string;
  readonly views: EnvoyViews;
  readonly before: EnvoyViews;
  readonly stored: StandingClass;
  /** Units that are made again. */
  readonly wanted: readonly Unit[];
}

const slot = "beside";

/**
 * The answers of classes of which some lie in the store: only the others are made. Of a unit that is made again, what is of the class's own
 * workload is taken from the store all the same, if it comes to the same resources as before.
 *
 * @param form of the classes of Envoys
 * @returns by id; without the classes of which nothing stands, or where what stands does not fit what is made
 */
export function classesBesideStore(
  classes: readonly ProxyClass[],
  form: ClassForm,
  standing: Standing,
  memo: Memo,
): ReadonlyMap<string, OfClass> {
  const found = new Map<string, OfClass>();
  const partly: Partly[] = [];
  for (const { id, views } of classes) {
    const stored = standing.classes.get(id);
    if (stored === undefined) continue;
    const kept = unitsThatStand(views, stored);
    const wanted = units.filter((unit) => !kept.includes(unit));
    if (wanted.length === 0) found.set(id, { value: stored.compiled, spoken: stored.spoken });
    else if (views.kind === "envoy" && stored.views.kind === "envoy")
      partly.push({ id, views, before: stored.views, stored, wanted });
  }
  const own = { clusters: ownThatStand("clusters", partly, memo), listeners: ownThatStand("listeners", partly, memo) };
  const tables = tablesOf(partly, memo);
  const namesOf = ({ id }: Partly): readonly string[] => tables.get(id) ?? [];
  const made = ofUnits((unit) => {
    const anew = partly.filter(({ wanted }) => wanted.includes(unit));
    const views = columnsOf(anew.map((of) => of.views));
    const stands = unit === "clusters" || unit === "listeners" ? own[unit] : undefined;
    const generated =
      unit === "routes"
        ? routesOf(views.routes, anew.map(namesOf), memo, slot)
        : withoutOwn(
            unitsOfEnvoys[unit](views, memo, slot),
            anew.map(({ id }) => stands?.has(id) === true),
          );
    const compiled = compileUnits(memo, { unit, generated, form, slot });
    return new Map(anew.map(({ id }, at) => [id, listsAt(unit, compiled, at)]));
  });
  const joined = partlyStored(memo, slot, {
    stored: partly.map(({ stored }) => stored),
    ...ofUnits((unit) => partly.map(({ id }) => made[unit].get(id))),
    clustersStand: partly.map(({ id }) => own.clusters.has(id)),
    listenersStand: partly.map(({ id }) => own.listeners.has(id)),
  });
  for (const [at, { id }] of partly.entries()) {
    const [of, names] = [joined[at], tables.get(id)];
    if (of !== undefined && (names === undefined || hasTables(of.value, names, memo))) found.set(id, of);
  }
  return found;
}

/** By id, of the classes whose routes are made again, the tables that their listeners ask for. Listeners that stand need not be made for that. */
function tablesOf(partly: readonly Partly[], memo: Memo): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  const others: Partly[] = [];
  for (const of of partly.filter(({ wanted }) => wanted.includes("routes"))) {
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
function ownThatStand(unit: WithOwn, partly: readonly Partly[], memo: Memo): ReadonlySet<string> {
  const anew = partly.filter(({ wanted }) => wanted.includes(unit));
  const sides = sidesOf[unit];
  const now = sides(
    anew.map(({ views }) => views),
    memo,
    slot,
  );
  const then = sides(
    anew.map(({ before }) => before),
    memo,
    `${slot}|before`,
  );
  const stands = ({ stored }: Partly, at: number): boolean => {
    const [after, before] = [now[at], then[at]];
    if (after === undefined || after.own.length === 0 || after.own !== before?.own) return false;
    if (unit === "clusters" && after.own.some(({ json }) => "edsClusterConfig" in json)) return false;
    if (![after, before].every(({ shared, own }) => isApart(memo, { shared, own }))) return false;
    return shapes.every((shape) => lengthOf(ownPartsOf(stored.compiled[shape][unit])) === after.own.length);
  };
  return new Set(anew.filter(stands).map(({ id }) => id));
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
  readonly stored: StandingClass;
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
      spoken: ofUnits((unit) => made[unit]?.diagnostics ?? stored.spoken[unit]),
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
