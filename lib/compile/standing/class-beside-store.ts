import type { Diagnostic } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { step } from "../../mesh/memo/step.ts";
import type { EnvoyViews, ProxyViews } from "../../mesh/views/views-of.ts";
import {
  type CompiledClass,
  type CompiledList,
  type CompiledShape,
  lengthOf,
  listIn,
} from "../../snapshot/compiled.ts";
import { type ExtraType, extraTypes, type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import { isOfWorkload } from "../../snapshot/segment.ts";
import { storedForm } from "../../snapshot/standing/stored-part.ts";
import { clustersOf, generateUnits, listenersOf, tablesAsked } from "../../xds/generate.ts";
import { type ClassResources, noResources, type Parted, type Resource } from "../../xds/resource.ts";
import { ofUnits, type StageOfUnits, type Unit, unitOf, units } from "../../xds/units.ts";
import { joinStored, ownPartsOf } from "./join-stored.ts";
import { type Standing, type StandingClass, unitsThatStand } from "./standing.ts";

/** Checks and encodes resources of a class, in both shapes. */
export type ClassEncoder = (
  id: string,
  kind: ProxyViews["kind"],
  resources: ClassResources,
) => StageOfUnits<CompiledClass>;

/** A class's answers, and what making them had to say. */
export type OfClass = Omit<StageOfUnits<CompiledClass>, "diagnostics">;

interface Beside {
  readonly standing: Standing | undefined;
  readonly encodeClass: ClassEncoder;
}

/**
 * The answers of a class of which some lie in the store: only the others are made. Of a unit that is made again, what is of the class's own
 * workload is taken from the store all the same, if it comes to the same resources as before.
 *
 * @returns undefined where nothing stands, or what stands does not fit what is made
 */
export function classBesideStore(
  id: string,
  views: ProxyViews,
  { standing, encodeClass }: Beside,
  memo: Memo,
): OfClass | undefined {
  const stored = standing?.classes.get(id);
  if (stored === undefined) return undefined;
  const kept = unitsThatStand(views, stored);
  if (kept.length === units.length) return { value: stored.compiled, spoken: stored.spoken };
  const { views: before } = stored;
  if (views.kind !== "envoy" || before.kind !== "envoy") return undefined;

  const wanted = units.filter((unit) => !kept.includes(unit));
  const generated = generateUnits(views, wanted, memo);
  const own = wanted.filter((unit) => ownStands(unit, { views, before, stored }, memo));
  const made = encodeClass(id, views.kind, withoutOwn(memo, { resources: generated.value, own }));
  const value = partlyStored(memo, { made: made.value, stored: stored.compiled, kept, own });
  if (value === undefined || (wanted.includes("routes") && !hasTables(value, views, memo))) return undefined;
  const saidOf = (unit: Unit): readonly Diagnostic[] =>
    kept.includes(unit) ? stored.spoken[unit] : [...generated.spoken[unit], ...made.spoken[unit]];
  return { value, spoken: ofUnits(saidOf) };
}

interface Compared {
  readonly views: EnvoyViews;
  readonly before: EnvoyViews;
  readonly stored: StandingClass;
}

/** Whether what a class has of its own workload in a unit comes to the resources of before, all of which were stored. */
function ownStands(unit: Unit, { views, before, stored }: Compared, memo: Memo): boolean {
  if (unit !== "clusters" && unit !== "listeners") return false;
  const sidesOf = unit === "clusters" ? clustersOf : listenersOf;
  const [now, then]: readonly (Parted | undefined)[] = [sidesOf(views, memo).value, sidesOf(before, memo).value];
  if (now === undefined || now.own.length === 0 || now.own !== then?.own) return false;
  if (unit === "clusters" && now.own.some(({ json }) => "edsClusterConfig" in json)) return false;
  if (!isApart(memo, { shared: now.shared, own: now.own }) || !isApart(memo, { shared: then.shared, own: then.own }))
    return false;
  return shapes.every((shape) => lengthOf(ownPartsOf(stored.compiled[shape][unit])) === now.own.length);
}

/** Whether names tell a class's own resources from what it shares. */
const isApart = step(
  "own resources apart",
  { shared: "identity", own: "identity" },
  ({ shared, own }: Parted): boolean =>
    own.every(({ name }) => isOfWorkload(name)) && !shared.some(({ name }) => isOfWorkload(name)),
);

interface SomeOwn {
  /** Units whose own resources stand. */
  readonly own: readonly Unit[];
}

const withoutOwn = step(
  "resources without those that stand",
  { resources: "identity", own: "value" },
  ({ resources, own }: SomeOwn & { readonly resources: ClassResources }): ClassResources => {
    const side = <R extends Resource>(unit: Unit, parted: Parted<R>): Parted<R> =>
      own.includes(unit) ? { shared: parted.shared, own: noResources } : parted;
    return {
      ...resources,
      clusters: side("clusters", resources.clusters),
      listeners: side("listeners", resources.listeners),
    };
  },
);

interface Both extends SomeOwn {
  readonly made: CompiledClass;
  readonly stored: CompiledClass;
  /** Units that stand as a whole. */
  readonly kept: readonly Unit[];
}

const partlyStored = step(
  "class that is partly stored",
  { made: "identity", stored: "identity", kept: "value", own: "value" },
  ({ made, stored, kept, own }: Both, memo: Memo): CompiledClass | undefined => {
    const shapeOf = (shape: ShapeName): CompiledShape | undefined => {
      const [now, then] = [made[shape], stored[shape]];
      const joined = (unit: "clusters" | "listeners"): CompiledList | undefined =>
        own.includes(unit) ? joinStored(memo, { shared: now[unit], own: ownPartsOf(then[unit]) }) : now[unit];
      const stands = ofUnits((unit) => kept.includes(unit));
      const clusters = stands.clusters ? then.clusters : joined("clusters");
      const listeners = stands.listeners ? then.listeners : joined("listeners");
      if (clusters === undefined || listeners === undefined) return undefined;
      const extras = extraTypes.flatMap((type): readonly (readonly [ExtraType, CompiledList])[] => {
        const list = listIn(stands[unitOf[type]] ? then : now, type);
        return list.length === 0 ? [] : [[type, list]];
      });
      return {
        clusters,
        endpoints: stands.clusters ? then.endpoints : now.endpoints,
        listeners,
        routes: stands.routes ? then.routes : now.routes,
        ...Object.fromEntries(extras),
      };
    };
    const [stream, poll] = [shapeOf("stream"), shapeOf("poll")];
    return stream && poll && { id: made.id, stream, poll };
  },
);

/** Whether every table is there that the class's listeners ask for, stored listeners among them: nobody looks into these any more. */
function hasTables({ stream, poll }: CompiledClass, views: EnvoyViews, memo: Memo): boolean {
  return [stream, poll].every(
    ({ listeners, routes }) =>
      listeners.every((part) => storedForm(part) === undefined) ||
      holdsNames(memo, { routes, names: tablesAsked(views, memo) }),
  );
}

const holdsNames = step(
  "tables that listeners ask for",
  { routes: "identity", names: "identity" },
  ({ routes, names }: { readonly routes: CompiledList; readonly names: readonly string[] }): boolean => {
    const there = new Set(routes.flat().map(({ name }) => name));
    return names.every((name) => there.has(name));
  },
);
