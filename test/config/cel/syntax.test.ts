import { describe, expect, it } from "vitest";
import { celSyntax } from "../../../lib/config/cel/syntax.ts";

/** Each was given to Envoy 1.40 as the filter of an access log; it and we agree about all. */
const accepted = [
  "response.code >= 400 && request.method == 'GET'",
  "has(request.headers.x)",
  "has((a.b))",
  "has('x'.y)",
  "'x' in request.headers",
  "a in b in c",
  "a ? b : c ? d : e",
  "a == -1",
  "a--1",
  "!!a",
  "!-1",
  "-9223372036854775808",
  "18446744073709551615u",
  "0xFFu",
  ".5",
  "1.5.a",
  "1.a",
  ".a . b",
  "a.for",
  "x.for(1)",
  "[]",
  "[,]",
  "[1,]",
  "{'a': 1, b: 2,}",
  "{,}",
  "a.b{for: 1}",
  "Foo{a: 1,}",
  "[1].exists(x, x > 1)",
  "[1].all((x), true)",
  "x.map(a, b, c, d)",
  "has()",
  "r'\\d+'",
  "br'\\d'",
  "'\\u00e9\\x41\\101\\`'",
  "'''a'b\n'''",
  '"""a"b"""',
  "'é'",
  "a // comment",
  "\f a",
];

const refused: readonly (readonly [string, number])[] = [
  ["has(request.headers['x'])", 0],
  ["!(has(request.headers['x']))", 2],
  ["has(request)", 0],
  ["has(a.b())", 0],
  ["[1,2].exists(1, x)", 6],
  ["a.map(b.c, true, x)", 2],
  ["", 0],
  ["// only a comment", 17],
  ["1 +", 3],
  ["a ? b", 5],
  ["a ? b ? c : d : e", 6],
  ["a = b", 2],
  ["a and b", 2],
  ["a & b", 2],
  ["(a", 2],
  ["a)", 1],
  ["a[]", 2],
  ["f(1,)", 4],
  ["[1,,2]", 3],
  ["{'a': 1,,}", 8],
  ["{1}", 2],
  ["(a){b: 1}", 3],
  ["a..b", 2],
  ["a.1", 1],
  ["a.in", 2],
  ["a.?b", 2],
  ["a[?0]", 2],
  ["a.`b`", 2],
  ["for", 0],
  ["if(1)", 0],
  ["in", 0],
  ["true()", 4],
  ["!-a", 2],
  ["-!a", 1],
  ["1u2", 2],
  ["0x", 1],
  ["9223372036854775808", 0],
  ["18446744073709551616u", 0],
  ["'\\d'", 0],
  ["'\\400'", 0],
  ["'\\u12'", 0],
  ["'\\ud800'", 0],
  ["b'\\u00e9'", 0],
  ["'a\nb'", 0],
  ["'a' 'b'", 4],
  ["é", 0],
  ["\u00a0a", 0],
];

describe("celSyntax", () => {
  it.each(accepted)("takes %j", (expression) => {
    expect(celSyntax(expression).error).toBeUndefined();
  });

  it.each(refused)("refuses %j at %i", (expression, at) => {
    expect(celSyntax(expression).error).toMatchObject({ at });
  });

  it("names what is called, within a refused expression too", () => {
    expect(celSyntax("size(a.b(c)) > 0 && x.y.z()").calls).toEqual(["size", "b", "z"]);
  });

  it.each(["(", "[", "-", "!", "a.b(", "{1:"])(
    "refuses %j without end, and any depth, without an exception",
    (piece) => {
      expect(celSyntax(piece.repeat(20_000)).error).toBeDefined();
    },
  );

  it("takes 200 brackets within one another, and no 300", () => {
    const nested = (depth: number) => celSyntax(`${"(".repeat(depth)}a${")".repeat(depth)}`).error;
    expect(nested(200)).toBeUndefined();
    expect(nested(300)).toMatchObject({ message: "nests deeper than 250" });
  });
});
