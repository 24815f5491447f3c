import { describe, expect, it } from "vitest";
import { createMemo, forget, noMemo } from "../../lib/incremental/memo.ts";
import { InputReader, query } from "../../lib/incremental/query.ts";

interface Inputs {
  readonly service: { readonly host: string };
  readonly rule: object | undefined;
  readonly ports: readonly number[];
}

let runs = 0;
const cluster = query(
  "test: cluster",
  { ports: "value" },
  (inputs: Inputs): { readonly host: string; readonly fields: readonly string[] } => {
    runs += 1;
    return { host: inputs.service.host, fields: Object.keys(inputs) };
  },
);

describe("a query", () => {
  const service = { host: "a" };

  it("gives the same object for the same inputs, whatever the order in which they are written", () => {
    const memo = createMemo();
    const first = cluster(memo, { service, rule: undefined, ports: [1, 2] });
    expect(cluster(memo, { ports: [1, 2], rule: undefined, service })).toBe(first);
  });

  it("runs again for another object that says the same, and for another plain value", () => {
    const memo = createMemo();
    const first = cluster(memo, { service, rule: undefined, ports: [1, 2] });
    expect(cluster(memo, { service: { host: "a" }, rule: undefined, ports: [1, 2] })).not.toBe(first);
    expect(cluster(memo, { service, rule: undefined, ports: [12] })).not.toBe(first);
    expect(cluster(memo, { service, rule: undefined, ports: [2, 1] })).not.toBe(first);
    expect(cluster(memo, { service, rule: {}, ports: [1, 2] })).not.toBe(first);
    expect(cluster(memo, { service, rule: undefined, ports: [1, 2] })).toBe(first);
  });

  it("runs again when the memo was made to forget, and is remembered from then on", () => {
    const memo = createMemo();
    const first = cluster(memo, { service, rule: undefined, ports: [1, 2] });
    forget(memo);
    const second = cluster(memo, { service, rule: undefined, ports: [1, 2] });
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(cluster(memo, { service, rule: undefined, ports: [1, 2] })).toBe(second);
  });

  it("tells long plain values apart wherever they differ, and keeps none of them as its key", () => {
    const memo = createMemo();
    const ports = Array.from({ length: 10_000 }, (_, at) => at);
    const first = cluster(memo, { service, rule: undefined, ports });
    expect(cluster(memo, { service, rule: undefined, ports: [...ports] })).toBe(first);
    for (const at of [0, 5_000, 9_999])
      expect(cluster(memo, { service, rule: undefined, ports: ports.with(at, 7) })).not.toBe(first);
    const reader = new InputReader<Inputs>("test: long", { ports: "value" });
    const ways = [ports, ports].map(
      (list) => memo.known && reader.find(memo.known, { service, rule: undefined, ports: list }).way,
    );
    expect(ways[1]?.at(-1)).toHaveLength(1 + 64);
  });

  it("finds every one of many results again, wherever their inputs part", () => {
    const of = query(
      "test: parting",
      { list: "elements" },
      (inputs: {
        readonly left: object;
        readonly list: readonly object[] | undefined;
        readonly right: object | undefined;
        readonly port: number;
        readonly name: string;
      }) => ({ inputs }),
    );
    const memo = createMemo();
    const [x, y] = [{}, {}];
    const all = [x, y].flatMap((left) =>
      [undefined, [], [x], [x, y], [y]].flatMap((list) =>
        [undefined, x, y].flatMap((right) =>
          [0, 1].flatMap((port) => ["", "1", "\u00001"].map((name) => ({ left, list, right, port, name }))),
        ),
      ),
    );
    const made = all.map((inputs) => of(memo, inputs));
    expect(made.map(({ inputs }) => inputs)).toEqual(all);
    expect(all.map((inputs) => of(memo, inputs)).every((one, at) => one === made[at])).toBe(true);
    expect(memo.known?.misses).toBe(all.length);
  });

  it("does not mix up two objects that change places", () => {
    const pair = query("test: pair", ({ a, b }: { a: object; b: object }) => [a, b]);
    const memo = createMemo();
    const [x, y] = [{}, {}];
    pair(memo, { a: x, b: y });
    expect(pair(memo, { b: x, a: y })).toEqual([y, x]);
    expect(pair(memo, { b: x, a: y })[0]).toBe(y);
  });

  it("counts a list by its elements where it is told to, however the list came about", () => {
    const pairs = query(
      "test: pairs",
      { left: "elements", right: "elements" },
      ({ left, right }: { readonly left: readonly object[] | undefined; readonly right: readonly object[] }) => [
        left?.length,
        right.length,
      ],
    );
    const memo = createMemo();
    const [x, y, z] = [{}, {}, {}];
    const first = pairs(memo, { left: [x], right: [y, z] });
    expect(pairs(memo, { left: [x], right: [y, z] })).toBe(first);
    expect(pairs(memo, { left: [x, y], right: [z] })).toEqual([2, 1]);
    expect(pairs(memo, { left: [x], right: [z, y] })).not.toBe(first);
    expect(pairs(memo, { left: [], right: [] })).toEqual([0, 0]);
    expect(pairs(memo, { left: undefined, right: [] })).toEqual([undefined, 0]);
  });

  it("tells a list that is not there from one of something that is not there", () => {
    const of = query(
      "test: list",
      { list: "elements" },
      ({ list }: { readonly list: readonly object[] | undefined }) => list?.length,
    );
    const memo = createMemo();
    // What a caller without types might hand over.
    const hole: readonly object[] = Array.from({ length: 1 });
    expect(of(memo, { list: undefined })).toBeUndefined();
    expect(of(memo, { list: hole })).toBe(1);
    expect(of(memo, { list: [] })).toBe(0);
    expect(of(memo, { list: undefined })).toBeUndefined();
  });

  it("tells plain values apart, whatever they look like when they are written down", () => {
    const kindOf = query("test: kind", { value: "value" }, ({ value }: { readonly value: unknown }) => ({
      is: JSON.stringify(value),
    }));
    const memo = createMemo();
    const values = ["1", 1, "[1;]", [1], "1;", [[1]], ["1"], "", "undefined", undefined, null, "n", true, "t", {}, []];
    for (const value of values) expect(kindOf(memo, { value }).is).toBe(JSON.stringify(value));
    for (const value of values) expect(kindOf(memo, { value }).is).toBe(JSON.stringify(value));
  });

  it("is remembered by all that the caller's object holds, since the body may see it", () => {
    const memo = createMemo();
    const few = { service, rule: undefined, ports: [1] };
    const more = [
      { ...few, mesh: {} },
      { ...few, mesh: {} },
      { ...few, mesh: undefined },
    ] as const;
    const first = cluster(memo, few);
    const results = more.map((inputs) => cluster(memo, inputs));
    expect(new Set(results).size).toBe(3);
    expect(more.map((inputs) => cluster(memo, { ...inputs }))).toEqual(results);
    for (const [at, inputs] of more.entries()) expect(cluster(memo, inputs)).toBe(results[at]);
    // It lacks the field as the third one does.
    expect(cluster(memo, few)).toBe(results[2]);
    expect(first).toEqual(cluster(noMemo, few));
  });

  it("finds results again where an input becomes an object that was absent at first", () => {
    const memo = createMemo();
    const rules = [undefined, {}, {}, undefined];
    const results = rules.map((rule) => cluster(memo, { service, rule, ports: [1] }));
    expect(new Set(results).size).toBe(3);
    for (const [at, rule] of rules.entries()) expect(cluster(memo, { service, rule, ports: [1] })).toBe(results[at]);
  });

  it("remembers nothing without a memory, and what is undefined with one", () => {
    const nothing = query("test: nothing", (_: { service: object }) => {
      runs += 1;
      return undefined;
    });
    const memo = createMemo();
    runs = 0;
    nothing(memo, { service });
    nothing(memo, { service });
    expect(runs).toBe(1);
    nothing(noMemo, { service });
    nothing(noMemo, { service });
    expect(runs).toBe(3);
  });
});
