import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CompiledPart } from "../../lib/snapshot/compiled.ts";
import { type Column, createColumns } from "../../lib/snapshot/worlds/columns.ts";
import { createTableEncoder } from "../../lib/snapshot/worlds/encode-table.ts";
import { createTreeEncoder, type TreeEncoder } from "../../lib/snapshot/worlds/encode-tree.ts";
import { resource } from "./worlds.ts";

const prefixes = ["BlackHole", "inbound|80|", "inbound|81|", "outbound|a|", "outbound|b|"] as const;
const forms = [0, 1, 2, 3, 4] as const;

/** Parts of a few forms: small ones, one of many segments, and one that two places have in common. */
const parts: readonly (readonly CompiledPart[])[] = prefixes.map((prefix) =>
  forms.map((form) => {
    const names = Array.from({ length: form === 3 ? 60 : 2 }, (_, at) => `${form === 4 ? "zz|" : prefix}${at}`);
    return names.map((name) => resource("clusters", name, form === 4 ? "1" : `${form}`.repeat(form < 2 ? 9 : 9_000)));
  }),
);

const row = fc.tuple(...prefixes.map(() => fc.boolean()));
const change = fc.record({
  /** Of the part at each place. */
  forms: fc.tuple(...prefixes.map(() => fc.constantFrom(...forms))),
  /** One list that has another form at one place. */
  other: fc.option(fc.record({ row: fc.nat(5), place: fc.nat(prefixes.length - 1), form: fc.constantFrom(...forms) })),
});

const columnOf = (
  rows: readonly (readonly boolean[])[],
  { forms, other }: typeof change extends fc.Arbitrary<infer C> ? C : never,
): Column =>
  rows.map((has, at) =>
    prefixes.flatMap((_prefix, place) => {
      const form = other?.row === at && other.place === place ? other.form : forms[place];
      return has[place] === true ? [parts[place]?.[form ?? 0] ?? []] : [];
    }),
  );

describe("tables of trees", () => {
  it("are after any change what a new process makes of them", () => {
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 6 }),
        fc.array(change, { minLength: 2, maxLength: 6 }),
        (rows, changes) => {
          const warm = createTableEncoder(createTreeEncoder(), createColumns());
          for (const one of changes) {
            const column = columnOf(rows, one);
            const { groups, blobs, runs, ...told } = warm(column);
            const fresh = createTableEncoder(createTreeEncoder(), createColumns())(column);
            expect(told).toEqual({ hash: fresh.hash, indexes: fresh.indexes, secrets: fresh.secrets });
            expect(groups.map(({ key }) => key)).toEqual(fresh.groups.map(({ key }) => key));
            expect(blobs.map(({ hash }) => hash)).toEqual(fresh.blobs.map(({ hash }) => hash));
            expect(new Set(runs.map(({ resources }) => resources))).toEqual(
              new Set(fresh.runs.map(({ resources }) => resources)),
            );
          }
        },
      ),
    );
  });

  it("look at no list anew where a part that all share was replaced", () => {
    const encodeTree = createTreeEncoder();
    let looked = 0;
    const counted: TreeEncoder = (list) => {
      looked += 1;
      return encodeTree(list);
    };
    const encode = createTableEncoder(counted, createColumns());
    const shared = (form: number): CompiledPart => parts[3]?.[form] ?? [];
    const columnWith = (part: CompiledPart): Column =>
      Array.from({ length: 100 }, (_, at) => [[resource("clusters", `inbound|${at}||`, "1")], part]);
    const before = columnWith(shared(0));
    encode(before);
    looked = 0;
    const { indexes } = encode(before.map(([own = []]) => [own, shared(1)]));
    expect(looked).toBeLessThan(4);
    expect(new Set(indexes).size).toBe(100);
  });
});
