import { describe, expect, it } from "vitest";
import { createMemo, forget, noMemo } from "../../../lib/mesh/memo/memo.ts";
import { InputReader, step } from "../../../lib/mesh/memo/step.ts";

interface Inputs {
  readonly service: { readonly host: string };
  readonly rule: object | undefined;
  readonly ports: readonly number[];
}

let runs = 0;
const cluster = step(
  "test: cluster",
  { service: "identity", rule: "identity", ports: "value" },
  (inputs: Inputs): { readonly host: string; readonly fields: readonly string[] } => {
    runs += 1;
    return { host: inputs.service.host, fields: Object.keys(inputs) };
  },
);

describe("a step", () => {
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
    const reader = new InputReader<Inputs>("test: long", { service: "identity", rule: "identity", ports: "value" });
    const ways = [ports, ports].map(
      (list) => memo.known && reader.find(memo.known, { service, rule: undefined, ports: list }).way,
    );
    expect(ways[1]?.at(-1)).toHaveLength(1 + 64);
  });

  it("finds every one of many results again, wherever their inputs part", () => {
    const of = step(
      "test: parting",
      { left: "identity", list: "elements", right: "identity", port: "value", name: "value" },
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
    const pair = step("test: pair", { a: "identity", b: "identity" }, ({ a, b }: { a: object; b: object }) => [a, b]);
    const memo = createMemo();
    const [x, y] = [{}, {}];
    pair(memo, { a: x, b: y });
    expect(pair(memo, { b: x, a: y })).toEqual([y, x]);
    expect(pair(memo, { b: x, a: y })[0]).toBe(y);
  });

  it("counts a list by its elements where it is told to, however the list came about", () => {
    const pairs = step(
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
    const of = step(
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
    const kindOf = step("test: kind", { value: "value" }, ({ value }: { readonly value: unknown }) => ({
      is: JSON.stringify(value),
    }));
    const memo = createMemo();
    const values = ["1", 1, "[1;]", [1], "1;", [[1]], ["1"], "", "undefined", undefined, null, "n", true, "t", {}, []];
    for (const value of values) expect(kindOf(memo, { value }).is).toBe(JSON.stringify(value));
    for (const value of values) expect(kindOf(memo, { value }).is).toBe(JSON.stringify(value));
  });

  it("hands over its inputs and nothing that the caller's object holds beside them", () => {
    const more = { service, rule: undefined, ports: [1], mesh: {} };
    expect(cluster(createMemo(), more).fields).not.toContain("mesh");
    expect(cluster(noMemo, more).fields).not.toContain("mesh");
  });

  it("remembers nothing without a memory, and what is undefined with one", () => {
    const nothing = step("test: nothing", { service: "identity" }, (_: { service: object }) => {
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
