import type { Diagnostic } from "../../base/diagnostic.ts";
import type { ProxyViews } from "../../mesh/views/view-columns.ts";
import { haveSameClusters } from "../../mesh/views/views-of.ts";
import type { CompiledClass } from "../../snapshot/compiled.ts";
import { type OfUnits, type Unit, units } from "../../xds/units.ts";

/** What an earlier compile, by whatever process, has left in the store: what is made from the same views need not be made again. */
export interface Standing {
  /** By id. */
  readonly classes: ReadonlyMap<string, StandingClass>;
}

export interface StandingClass {
  /** What the class was made from. */
  readonly views: ProxyViews;
  /** Its answers, in parts that lie in the store. */
  readonly compiled: CompiledClass;
  /** What making them had to say. */
  readonly spoken: OfUnits<readonly Diagnostic[]>;
}

/** The units whose views are what they were. Which tables there are the listeners say, so routes stand only with these. */
export function unitsThatStand(views: ProxyViews, { views: before }: StandingClass): readonly Unit[] {
  const stands: OfUnits<boolean> = {
    clusters: haveSameClusters(views, before) && views.endpoints === before.endpoints,
    listeners: views.listeners === before.listeners,
    routes: views.routes === before.routes && views.listeners === before.listeners,
    names: namesOf(views) === namesOf(before),
  };
  const standing = units.filter((unit) => stands[unit]);
  // The answers of a gRPC class are made at once.
  return views.kind === "grpc" && standing.length < units.length ? [] : standing;
}

const namesOf = (views: ProxyViews) => (views.kind === "envoy" ? views.names : undefined);

/** The name of a unit of a class in a root's record. */
export const spokenKey = (classId: string, unit: Unit): string => `${classId}/${unit}`;
