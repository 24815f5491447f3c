import type { Diagnostic } from "../../base/diagnostic.ts";
import type { ProxyViews } from "../../mesh/views/view-columns.ts";
import { haveSameClusters } from "../../mesh/views/views-of.ts";
import type { CompiledClass } from "../../snapshot/compiled.ts";
import { type OfUnits, type Unit, units } from "../../xds/units.ts";

/** Stored results of an earlier compile of any process. Results that were made from the same views are reused. */
export interface ReusableResults {
  /** By id. */
  readonly classes: ReadonlyMap<string, ReusableClass>;
}

export interface ReusableClass {
  /** The views that the class was compiled from. */
  readonly views: ProxyViews;
  /** Its resources, as lists in the store. */
  readonly compiled: CompiledClass;
  /** Diagnostics that compiling the class reported. */
  readonly reported: OfUnits<readonly Diagnostic[]>;
}

/** The units whose views are unchanged. Listeners name the route tables, so routes are reused only together with listeners. */
export function reusableUnits(views: ProxyViews, { views: before }: ReusableClass): readonly Unit[] {
  const isUnchanged: OfUnits<boolean> = {
    clusters: haveSameClusters(views, before) && views.endpoints === before.endpoints,
    listeners: views.listeners === before.listeners,
    routes: views.routes === before.routes && views.listeners === before.listeners,
    names: namesOf(views) === namesOf(before),
  };
  const reusable = units.filter((unit) => isUnchanged[unit]);
  // All units of a gRPC class are compiled together.
  return views.kind === "grpc" && reusable.length < units.length ? [] : reusable;
}

const namesOf = (views: ProxyViews) => (views.kind === "envoy" ? views.names : undefined);

/** The name of a unit of a class in a root's record. */
export const reportedKey = (classId: string, unit: Unit): string => `${classId}/${unit}`;
