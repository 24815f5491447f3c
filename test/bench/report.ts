import Table from "cli-table3";
import type { Timing } from "./yardstick.ts";

/** One line of a table: column to value, in the order of the columns. Rows of a table may leave columns out. */
export type Row = Readonly<Record<string, string | number>>;

/** What a benchmark measured, as it goes along. */
export interface Report {
  table(title: string, rows: readonly Row[]): void;
  /** A figure or remark that is no table. */
  line(text: string): void;
  /** The same figures for programs, where a benchmark has a form for them: `suite` and `rows` of the one JSON object. */
  rows(suite: string, rows: readonly Row[]): void;
}

/** What every benchmark is given. */
export interface BenchOptions {
  readonly report: Report;
  readonly yard: Timing;
  /** Sizes of the synthetic mesh. */
  readonly services: readonly number[];
  /** Fewer rounds: figures to see that nothing is broken, not to quote. */
  readonly quick: boolean;
  /** Polls to hold, if nothing else of the front is to be measured. */
  readonly held?: number | undefined;
}

/** Tables and lines for people, printed at once. */
export function textReport(print: (text: string) => void): Report {
  return {
    table(title, rows) {
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      const table = new Table({
        head: columns,
        colAligns: columns.map((column) =>
          typeof rows.find((row) => column in row)?.[column] === "number" ? "right" : "left",
        ),
        style: { head: [], border: [], compact: true },
      });
      for (const row of rows) table.push(columns.map((column) => cellText(row[column])));
      print(`\n${title}\n${table.toString()}`);
    },
    line: print,
    rows: () => {},
  };
}

/** Collects everything for `JSON.stringify`. */
export function jsonReport(): Report & {
  readonly suites: Readonly<Record<string, readonly Row[]>>;
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  readonly lines: readonly string[];
} {
  const suites: Record<string, readonly Row[]> = {};
  const tables: Record<string, readonly Row[]> = {};
  const lines: string[] = [];
  return {
    suites,
    tables,
    lines,
    table(title, rows) {
      tables[title] = rows;
    },
    line: (text) => lines.push(text),
    rows(suite, rows) {
      suites[suite] = rows;
    },
  };
}

/** Three figures that count: a benchmark knows no more. */
function cellText(value: string | number | undefined): string {
  if (typeof value !== "number") return value ?? "";
  return Number.isInteger(value)
    ? String(value)
    : value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}
