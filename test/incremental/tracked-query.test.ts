import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo } from "../../lib/incremental/memo.ts";
import { trackedQuery } from "../../lib/incremental/tracked-query.ts";

interface Labels {
  readonly namespace: string;
  label(key: string): string | undefined;
}

interface Rule {
  readonly key: string;
  readonly value: string;
  readonly next: Rule | undefined;
}

let runs = 0;
/** Follows a chain of rules as long as the labels match. */
const matched = trackedQuery("test: matched", ({ rule }: { readonly rule: Rule }, labels: Labels) => {
  runs += 1;
  const found: string[] = [labels.namespace];
  for (let at: Rule | undefined = rule; at !== undefined && labels.label(at.key) === at.value; at = at.next) {
    found.push(at.key);
  }
  return { found };
});

const labels = (namespace: string, of: Readonly<Record<string, string>>): Labels => ({
  namespace,
  label: (key) => of[key],
});

const rule: Rule = { key: "app", value: "web", next: { key: "version", value: "v1", next: undefined } };

describe("a traced step", () => {
  it("gives one object to sources that answer alike, whatever else they hold", () => {
    const memo = createMemo();
    runs = 0;
    const first = matched(memo, { rule }, labels("ns", { app: "web", version: "v2", tier: "a" }));
    expect(matched(memo, { rule }, labels("ns", { app: "web", version: "v2", tier: "b" }))).toBe(first);
    expect(runs).toBe(1);
    expect(first.questions.map(({ field, args }) => [field, args])).toEqual([
      ["namespace", undefined],
      ["label", ["app"]],
      ["label", ["version"]],
    ]);
  });

  it("asks on only where the answers so far lead", () => {
    const memo = createMemo();
    const other = matched(memo, { rule }, labels("ns", { app: "api", version: "v1" }));
    expect(other.questions).toHaveLength(2);
    expect(matched(memo, { rule }, labels("ns", { app: "api", version: "v2" }))).toBe(other);
    expect(matched(memo, { rule }, labels("ns", { app: "web", version: "v1" })).value.found).toEqual([
      "ns",
      "app",
      "version",
    ]);
  });

  it("gives what a run without memory gives, for any chain and any labels", () => {
    const key = fc.constantFrom("a", "b", "c");
    const chain = fc.array(fc.tuple(key, fc.constantFrom("1", "2")), { minLength: 1, maxLength: 5 });
    const sources = fc.array(fc.dictionary(key, fc.constantFrom("1", "2")), { maxLength: 12 });
    fc.assert(
      fc.property(chain, sources, (parts, all) => {
        const built = parts.reduceRight<Rule | undefined>((next, [of, value]) => ({ key: of, value, next }), undefined);
        if (built === undefined) return;
        const memo = createMemo();
        for (const of of all) {
          const warm = matched(memo, { rule: built }, labels("ns", of)).value;
          expect(warm).toEqual(matched(createMemo(), { rule: built }, labels("ns", of)).value);
        }
      }),
    );
  });

  it("refuses to list what a source holds: that cannot be recorded", () => {
    const listing = trackedQuery("test: listing", (_: object, source: Labels) => Object.keys(source));
    expect(() => listing(createMemo(), {}, labels("ns", {}))).toThrow("only fields and functions");
  });

  it("refuses a source that is asked by chance", () => {
    let turn = 0;
    const chance = trackedQuery("test: chance", (_: object, source: Labels) => {
      turn += 1;
      return turn % 2 === 0 ? source.label("a") : source.label(source.namespace);
    });
    const memo = createMemo();
    chance(memo, {}, labels("x", { x: "1" }));
    expect(() => chance(memo, {}, labels("y", {}))).toThrow("asks otherwise");
  });
});

describe("a traced step that knows the fields of its source", () => {
  const listed = trackedQuery(
    "test: listed",
    (_: object, source: Labels) => ({ said: [source.namespace, source.label("a"), source.namespace] }),
    { namespace: true, label: true },
  );

  it("records and finds as others do", () => {
    const memo = createMemo();
    const first = listed(memo, {}, labels("ns", { a: "1", b: "2" }));
    expect(first.value.said).toEqual(["ns", "1", "ns"]);
    expect(first.questions).toHaveLength(2);
    expect(listed(memo, {}, labels("ns", { a: "1" }))).toBe(first);
    expect(listed(memo, {}, labels("ns", { a: "2" })).value.said).toEqual(["ns", "2", "ns"]);
  });

  it("shows nothing of the source that nobody asks for", () => {
    const looking = trackedQuery("test: looking", (_: object, source: Labels) => ({ ...source }), {
      namespace: true,
      label: true,
    });
    const memo = createMemo();
    expect(looking(memo, {}, labels("ns", {})).value).toEqual({});
    const writing = trackedQuery(
      "test: writing",
      (_: object, source: { namespace: string }) => {
        source.namespace = "other";
      },
      { namespace: true },
    );
    expect(() => writing(memo, {}, { namespace: "ns" })).toThrow(TypeError);
  });
});
