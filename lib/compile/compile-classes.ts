import type { ProxyClass } from "../mesh/classes/enter-classes.ts";
import { column } from "../mesh/memo/column.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import type { ProxyViews } from "../mesh/views/views-of.ts";
import type { CompiledClass, CompiledList, CompiledShape } from "../snapshot/compiled.ts";
import type { ShapeName } from "../snapshot/resource-type.ts";
import { generateUnit } from "../xds/generate.ts";
import { type OfUnits, ofUnits } from "../xds/units.ts";
import { type ClassForm, type CompiledUnit, compileUnits, type OfClass } from "./compile-units.ts";
import { classesBesideStore } from "./standing/classes-beside-store.ts";
import type { Standing } from "./standing/standing.ts";

/** How the classes of each kind are written; the same objects as long as they are. */
export type ClassForms = Readonly<Record<ProxyViews["kind"], ClassForm>>;

/** Is told of the lists of a unit as soon as they are made, before those of the next are. */
export type OnMade = (unit: readonly CompiledUnit[]) => void;

/**
 * The answers of classes, in both shapes. Each unit is gone over for all of them at once, and a class of which nothing is new stays the same
 * object.
 *
 * @param standing what need not be made; absent: everything is
 * @returns in the order of the classes
 */
export function compileClasses(
  classes: readonly ProxyClass[],
  forms: ClassForms,
  standing: Standing | undefined,
  memo: Memo,
  onMade: OnMade = () => {},
): readonly OfClass[] {
  const made = new Map(standing && classesBesideStore(classes, forms.envoy, standing, memo));
  for (const kind of ["envoy", "grpc"] as const) {
    const missing = classes.filter(({ id, views }) => views.kind === kind && !made.has(id));
    if (missing.length === 0) continue;
    const whole = wholeClasses(missing, forms[kind], memo, onMade);
    if (missing.length === classes.length) return whole;
    for (const of of whole) made.set(of.value.id, of);
  }
  return classes.flatMap(({ id }) => made.get(id) ?? []);
}

function wholeClasses(classes: readonly ProxyClass[], form: ClassForm, memo: Memo, onMade: OnMade): readonly OfClass[] {
  const slot = form.reader;
  const views = classes.map((one) => one.views);
  return wholeClass(memo, slot, {
    id: classes.map(({ id }) => id),
    ...ofUnits((unit) => {
      const compiled = compileUnits(memo, { unit, generated: generateUnit(unit, views, memo, slot), form, slot });
      onMade(compiled);
      return compiled;
    }),
  });
}

const wholeClass = column(
  "compiled classes",
  ["id", "clusters", "listeners", "routes", "names"],
  ({ id, ...made }: OfUnits<CompiledUnit> & Pick<CompiledClass, "id">): OfClass => {
    const shapeOf = (shape: ShapeName): CompiledShape => {
      const { clusters = noList, endpoints = noList } = made.clusters.value[shape];
      const { listeners = noList, extension_configs } = made.listeners.value[shape];
      const { routes = noList } = made.routes.value[shape];
      const { name_tables } = made.names.value[shape];
      return {
        clusters,
        endpoints,
        listeners,
        routes,
        ...(extension_configs === undefined ? {} : { extension_configs }),
        ...(name_tables === undefined ? {} : { name_tables }),
      };
    };
    return {
      value: { id, stream: shapeOf("stream"), poll: shapeOf("poll") },
      spoken: ofUnits((unit) => made[unit].diagnostics),
    };
  },
);

const noList: CompiledList = [];
