import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import type { ResourceType } from "./resource.ts";

/** Types that are made together, from the same views: a unit stands, or is made again, as a whole. */
export const units = ["clusters", "listeners", "routes", "names"] as const;
export type Unit = (typeof units)[number];

/** The unit of each type. */
export const unitOf = {
  clusters: "clusters",
  endpoints: "clusters",
  listeners: "listeners",
  extension_configs: "listeners",
  routes: "routes",
  name_tables: "names",
} as const satisfies Readonly<Record<ResourceType, Unit>>;

/** What making each unit had to say. */
export type OfUnits<T> = Readonly<Record<Unit, T>>;

export const ofUnits = <T>(make: (unit: Unit) => T): OfUnits<T> => ({
  clusters: make("clusters"),
  listeners: make("listeners"),
  routes: make("routes"),
  names: make("names"),
});

/** A stage that also says which unit its diagnostics are of; those that are of none are found again without making any. */
export interface StageOfUnits<T> extends Stage<T> {
  readonly spoken: OfUnits<readonly Diagnostic[]>;
}
