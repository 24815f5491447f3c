import type { Diagnostic } from "../base/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { forAll, type SomeRows, together } from "../incremental/rearranged.ts";
import { classesAt, eachClass, type ProxyClasses } from "../mesh/classes/enter-classes.ts";
import type { ProxyViews, ViewColumns } from "../mesh/views/view-columns.ts";
import {
  type CompiledList,
  type CompiledTable,
  type CompiledWorld,
  type ListColumns,
  noList,
} from "../snapshot/compiled.ts";
import { compiledTable } from "../snapshot/compiled-table.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../snapshot/resource-type.ts";
import { unitsOfEnvoys, unitsOfProxyless } from "../xds/generate.ts";
import { type OfUnits, ofUnits, typesOf, unitOf } from "../xds/units.ts";
import { type ClassForm, type CompiledColumns, compileUnits } from "./compile-units.ts";
import type { ReusableResults } from "./reuse/reusable.ts";
import { reuseClasses } from "./reuse/reuse-classes.ts";

/** How the classes of each kind are written; the same objects as long as they are. */
export type ClassForms = Readonly<Record<ProxyViews["kind"], ClassForm>>;

/** Is told of the lists of a unit as soon as they are made, before those of the next are. */
export type OnMade = (unit: CompiledColumns) => void;

/** The answers of classes, and what making those of each had to say, both in the order of the classes. */
export interface CompiledClasses extends Pick<CompiledWorld, "classes" | "table"> {
  readonly reported: OfUnits<readonly (readonly Diagnostic[])[]>;
}

/**
 * The answers of classes, in both shapes. Each unit is gone over for all of them at once, and the columns of a unit of which nothing is new stay
 * the same objects.
 *
 * @param reusable results that need not be compiled again; absent: everything is compiled
 */
export function compileClasses(
  classes: ProxyClasses,
  forms: ClassForms,
  reusable: ReusableResults | undefined,
  memo: Memo,
  onMade: OnMade = () => {},
): CompiledClasses {
  const stored = reusable && reuseClasses(eachClass(classes), forms.envoy, reusable, memo);
  if (stored === undefined || stored.size === 0) return compileAll(classes, forms, memo, onMade);
  const missing = [...classes.ids.keys()].filter((row) => !stored.has(classes.ids[row] ?? ""));
  const made = new Map(stored);
  if (missing.length > 0) {
    const { classes: others, reported } = compileAll(classesAt(memo, classes, missing), forms, memo, onMade);
    for (const [at, value] of others.entries())
      made.set(value.id, { value, reported: ofUnits((unit) => reported[unit][at] ?? nothingSaid) });
  }
  const all = classes.ids.flatMap((id) => made.get(id) ?? []);
  return {
    classes: all.map(({ value }) => value),
    reported: ofUnits((unit) => all.map(({ reported }) => reported[unit])),
  };
}

const nothingSaid: readonly Diagnostic[] = [];
const noValues: readonly never[] = [];

type Units = OfUnits<CompiledColumns>;

function compileAll({ ids, views }: ProxyClasses, forms: ClassForms, memo: Memo, onMade: OnMade): CompiledClasses {
  const envoys = unitsOf("envoy", views, forms, memo, onMade);
  const proxyless = unitsOf("grpc", views, forms, memo, onMade);
  const inRows = <T>(of: (units: Units, nothing: readonly CompiledList[]) => readonly T[]): readonly T[] => {
    const someRows = (kind: string, rows: readonly number[], units: Units | undefined): SomeRows<T> => ({
      rows,
      values:
        units === undefined ? noValues : of(units, forAll(memo, `nothing of a type|${kind}`, noList, rows.length)),
    });
    return together(memo, someRows("envoy", views.envoyRows, envoys), someRows("grpc", views.proxylessRows, proxyless));
  };
  const columnOf = (type: ResourceType, shape: ShapeName): readonly CompiledList[] =>
    inRows((units, nothing) => listsIn(units, type)?.[shape] ?? nothing);
  const table = oneTable(memo, {
    ids,
    columns: resourceTypes.flatMap((type) => [columnOf(type, "stream"), columnOf(type, "poll")]),
  });
  return {
    classes: table.classes,
    table,
    reported: ofUnits((unit) => inRows((units) => units[unit].diagnostics)),
  };
}

/** The units of the classes of one kind; undefined where there are none. */
function unitsOf(
  kind: ProxyViews["kind"],
  views: ViewColumns,
  forms: ClassForms,
  memo: Memo,
  onMade: OnMade,
): Units | undefined {
  const rows = kind === "envoy" ? views.envoyRows : views.proxylessRows;
  if (rows.length === 0) return undefined;
  const [form, slot] = [forms[kind], kind];
  return ofUnits((unit) => {
    const generated =
      kind === "envoy"
        ? unitsOfEnvoys[unit](views.envoys, memo, slot)
        : unitsOfProxyless(unit, views.proxyless, memo, slot);
    const compiled = compileUnits(memo, { unit, generated, form, slot });
    onMade(compiled);
    return compiled;
  });
}

/** Undefined where none of the classes has the type. */
function listsIn(units: Units, type: ResourceType): ListColumns | undefined {
  const unit = unitOf[type];
  return typesOf[unit][0] === type ? units[unit].first : units[unit].second;
}

interface TableInputs {
  readonly ids: readonly string[];
  /** By type, then by shape. */
  readonly columns: readonly (readonly CompiledList[])[];
}

/** One table as long as its columns are the same. */
const oneTable = query("table of classes", { columns: "elements" }, ({ ids, columns }: TableInputs): CompiledTable => {
  const listsOf = (at: number): ListColumns => ({ stream: columns[2 * at] ?? [], poll: columns[2 * at + 1] ?? [] });
  const lists = Object.fromEntries(resourceTypes.map((type, at) => [type, listsOf(at)] as const));
  return compiledTable(ids, lists);
});
