import { type Blob, jsonBlob } from "../../base/blob.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import { mapTypes, type OfTypes } from "../resource-type.ts";
import type { ClassTable } from "../root.ts";

/** A class table, by its columns. */
export interface ClassColumns {
  readonly ids: readonly string[];
  /** Of each type the indexes of trees: that of a class's stream shape and that of its poll shape, class by class. */
  readonly indexes: OfTypes<readonly number[]>;
  /** Of each class the names of the secrets that its resources name, sorted. */
  readonly secrets: readonly (readonly string[])[];
}

/** Writes class tables. Most changes change none of it: what the last one said is not written again. */
export function createClassesEncoder(): (columns: ClassColumns) => Blob {
  let last: { readonly columns: ClassColumns; readonly blob: Blob } | undefined;
  return (columns) => {
    if (last === undefined || !sameColumns(last.columns, columns)) last = { columns, blob: jsonBlob(tableOf(columns)) };
    return last.blob;
  };
}

const tableOf = ({ ids, indexes, secrets }: ClassColumns): ClassTable => ({
  classes: ids.map((id, row) => {
    const names = secrets[row] ?? [];
    const shapeAt = (place: number) => mapTypes(indexes, (column) => column[place] ?? 0);
    const shapes = { stream: shapeAt(2 * row), poll: shapeAt(2 * row + 1) };
    return { id, ...shapes, ...(names.length === 0 ? {} : { secrets: names }) };
  }),
});

const sameColumns = (a: ClassColumns, b: ClassColumns): boolean =>
  sameElements(a.ids, b.ids) && sameRows(a.secrets, b.secrets) && sameRows(columnsIn(a), columnsIn(b));

const sameRows = (a: readonly (readonly unknown[])[], b: readonly (readonly unknown[])[]): boolean =>
  a.length === b.length && a.every((row, i) => row === b[i] || sameElements(row, b[i] ?? []));

/** The types first: which there are is part of the table. */
const columnsIn = ({ indexes }: ClassColumns): readonly (readonly unknown[])[] => [
  Object.keys(indexes),
  ...Object.values(indexes),
];
