import { describe, expect, it } from "vitest";
import { beginRevision } from "../../lib/incremental/cache-entries.ts";
import { column } from "../../lib/incremental/column.ts";
import { internLongList, internValue } from "../../lib/incremental/keep-identity.ts";
import { mappedList } from "../../lib/incremental/mapped-list.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { query } from "../../lib/incremental/query.ts";
import { trackedQuery } from "../../lib/incremental/tracked-query.ts";

interface Numbered {
  readonly n: number;
}

/** Lists that a body makes again where it is asked for another: each element costs a look at the memo. */
let made = 0;
const each = mappedList("test: each", (element: Numbered): Numbered => {
  made += 1;
  return { n: -element.n };
});
const inColumn = column("test: in column", ["element"], ({ element }: { readonly element: Numbered }): Numbered => {
  made += 1;
  return { n: -element.n };
});
const byNumber = query("test: by number", ({ n }: Numbered): Numbered => {
  made += 1;
  return { n: -n };
});
const eachByNumber = mappedList("test: each by number", ({ n }: Numbered, _, __, memo: Memo) => byNumber(memo, { n }));

type List = readonly Numbered[];
const lists: Readonly<Record<string, (memo: Memo, list: List) => readonly Numbered[]>> = {
  "a pass": (memo, list) => each(memo, "s", list, {}),
  "a column": (memo, list) => inColumn(memo, "s", { element: list }),
  "results found by plain values": (memo, list) => list.map(({ n }) => byNumber(memo, { n })),
  "results found by plain values in a pass": (memo, list) => eachByNumber(memo, "s", list, {}),
};

const aroundStep = query("test: around", ({ list, kind }: { readonly list: List; readonly kind: string }, memo: Memo) =>
  lists[kind]?.(memo, list),
);
const aroundTraced = trackedQuery(
  "test: traced around",
  ({ list, kind }: { readonly list: List; readonly kind: string }, source: { readonly asked: number }, memo: Memo) =>
    source.asked === 1 ? lists[kind]?.(memo, list) : [],
);

const rounds = (memo: Memo, count: number, use: () => void): void => {
  for (let round = 0; round < count; round++) {
    beginRevision(memo);
    use();
  }
};

const listOf = (length: number): List => Array.from({ length }, (_, n) => ({ n }));

describe.each(Object.keys(lists))("%s", (kind) => {
  it.each([
    ["a step", (memo: Memo, list: List) => aroundStep(memo, { list, kind })],
    ["a traced step", (memo: Memo, list: List) => aroundTraced(memo, { list, kind }, { asked: 1 })],
  ])("stays as long as a result of %s is found that was made with it", (_, around) => {
    const memo = createMemo();
    const list = listOf(2_000);
    rounds(memo, 200, () => around(memo, list));
    made = 0;
    around(memo, list.with(7, { n: 5_000 }));
    expect(made).toBe(1);
  });

  it("is evicted when nothing has used it for many compiles", () => {
    const memo = createMemo();
    const list = listOf(2_000);
    rounds(memo, 1, () => aroundStep(memo, { list, kind }));
    rounds(memo, 200, () => {});
    made = 0;
    aroundStep(memo, { list: list.slice(), kind });
    expect(made).toBe(2_000);
  });
});

describe("a table of 20,000 values", () => {
  const filled = (memo: Memo, from = 0, to = 20_000) =>
    Array.from({ length: to - from }, (_, at) => internValue(memo, { n: from + at }));

  it("is kept whole", () => {
    const memo = createMemo();
    expect(filled(memo).every((value, n) => internValue(memo, { n }) === value)).toBe(true);
  });

  it("loses only the oldest where it may hold fewer", () => {
    const memo = createMemo({ maxValues: 16_384 });
    const values = filled(memo);
    let kept = 0;
    while (internValue(memo, { n: 19_999 - kept }) === values[19_999 - kept]) kept++;
    expect(kept).toBeGreaterThanOrEqual((16_384 * 7) / 8);
  });

  it("counts as oldest what was not used for longest, not what came first", () => {
    const memo = createMemo({ maxValues: 16_384 });
    const first = internValue(memo, { n: -1 });
    const second = internValue(memo, { n: -2 });
    filled(memo, 0, 10_000);
    rounds(memo, 16, () => {});
    expect(internValue(memo, { n: -1 })).toBe(first);
    filled(memo, 10_000);
    expect([internValue(memo, { n: -1 }) === first, internValue(memo, { n: -2 }) === second]).toEqual([true, false]);
  });
});

it("lists that many make alike are found again among hundreds of others", () => {
  const memo = createMemo();
  const all = Array.from({ length: 400 }, (_, length) => internLongList(memo, "test", listOf(length)));
  for (const list of all) expect(internLongList(memo, "test", list.slice())).toBe(list);
});
