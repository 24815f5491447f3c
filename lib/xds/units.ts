import type { Diagnostic, Stage } from "../base/diagnostic.ts";
import { query } from "../incremental/query.ts";
import { type ClassResources, noResources, type Parted, type Resource, type ResourceType } from "./resource.ts";

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

/** What many classes have of one type; undefined for a class that has none of it. */
export interface PartedColumns {
  readonly shared: readonly (readonly Resource[] | undefined)[];
  readonly own: readonly (readonly Resource[] | undefined)[];
}

/** What many classes have of a unit's types, a row for each class: what all of them share is exchanged without making a row anew. */
export interface GeneratedColumns {
  readonly first: PartedColumns;
  /** Absent where the unit has no second type. */
  readonly second: PartedColumns | undefined;
  readonly diagnostics: readonly (readonly Diagnostic[])[];
}

/** Puts what was generated for each class into columns. */
export const unitColumns = query(
  "columns of generated units",
  ({ unit, made }: { readonly unit: Unit; readonly made: readonly GeneratedUnit[] }): GeneratedColumns => {
    const [first, second] = typesOf[unit];
    const columnsOf = (type: ResourceType): PartedColumns => ({
      shared: made.map(({ value }) => value[type]?.shared),
      own: made.map(({ value }) => value[type]?.own),
    });
    return {
      first: columnsOf(first),
      second: second === undefined ? undefined : columnsOf(second),
      diagnostics: made.map(({ diagnostics }) => diagnostics),
    };
  },
);

/** What one class has. */
export function unitAt(unit: Unit, { first, second, diagnostics }: GeneratedColumns, at: number): GeneratedUnit {
  const [firstType, secondType] = typesOf[unit];
  const value: { -readonly [Type in ResourceType]?: Parted } = {};
  const put = (type: ResourceType, { shared, own }: PartedColumns): void => {
    const side = shared[at];
    if (side !== undefined) value[type] = { shared: side, own: own[at] ?? noResources };
  };
  put(firstType, first);
  if (secondType !== undefined && second !== undefined) put(secondType, second);
  return { value, diagnostics: diagnostics[at] ?? noDiagnostics };
}

const noDiagnostics: readonly Diagnostic[] = [];
