import type { Stage } from "../config/diagnostic.ts";
import type { ClassResources, ResourceType } from "./resource.ts";

/** Types that are made together, from the same views: a unit stands, or is made again, as a whole. */
export const units = ["clusters", "listeners", "routes", "names"] as const;
export type Unit = (typeof units)[number];

/** The types of each; those that few classes have come last. */
export const typesOf = {
  clusters: ["clusters", "endpoints"],
  listeners: ["listeners", "extension_configs"],
  routes: ["routes"],
  names: ["name_tables"],
} as const satisfies OfUnits<readonly [ResourceType, ResourceType?]>;

/** The unit of each type. */
export const unitOf = {
  clusters: "clusters",
  endpoints: "clusters",
  listeners: "listeners",
  extension_configs: "listeners",
  routes: "routes",
  name_tables: "names",
} as const satisfies Readonly<Record<ResourceType, Unit>>;

/** Something of each. */
export type OfUnits<T> = Readonly<Record<Unit, T>>;

export const ofUnits = <T>(make: (unit: Unit) => T): OfUnits<T> => ({
  clusters: make("clusters"),
  listeners: make("listeners"),
  routes: make("routes"),
  names: make("names"),
});

/** What a class has of a unit's types, and what making it had to say. */
export type GeneratedUnit = Stage<Partial<ClassResources>>;
