import type { ComponentChildren } from "preact";

export interface Column<T> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

/** A table that scrolls within itself where it is wider than the page. */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
  none = "nothing",
}: {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** What is said where there is no row. */
  readonly none?: string;
}) {
  if (rows.length === 0) return <p class="quiet">{none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="aside">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber === true ? "number" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, isNumber, cell }) => (
                <td key={title} class={isNumber === true ? "number" : ""}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
