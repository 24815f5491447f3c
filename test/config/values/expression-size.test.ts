import { describe, expect, it } from "vitest";
import { httpRouteRules } from "../../../lib/config/gateway-api/rules/routes.ts";
import { regexRules } from "../../../lib/config/rules/regex.ts";
import { expressionSize } from "../../../lib/config/values/expression-size.ts";

/** What Envoy 1.40 says of each: its regular expressions are made for single bytes. */
const measured = [
  ["\\pL{1000}", 7004],
  ["\\p{L}{1000}", 7004],
  ["[\\pL\\pN]{0,1000}", 11_004],
  [".{1000}", 2004],
  ["[^a]{1000}", 2004],
  ["(.{1,1000}|x)", 3006],
  ["a{1000}", 1004],
  [".{1000}.{1000}.{1000}", 6004],
] as const;

describe("the size of an expression", () => {
  it.each(measured)("of %s is not told as much less than it is, nor as many times more", (pattern, size) => {
    expect(expressionSize(pattern)).toBeGreaterThan(size / 2);
    expect(expressionSize(pattern)).toBeLessThan(size * 3);
  });

  it("is told of what nests and of what is no expression at all, in a moment", () => {
    expect(expressionSize("((a{10}){10}){10}")).toBeGreaterThan(1000);
    for (const pattern of [
      "",
      ")",
      "(((",
      "[",
      "[]",
      "\\",
      "{",
      "a{",
      "a{1",
      "a{,5}",
      "{5}",
      "a{99999999999}",
      "\\p",
      "\\p{",
    ])
      expect(expressionSize(pattern)).toBeGreaterThanOrEqual(0);
    const beganMs = performance.now();
    for (const piece of ["(", "[", "\\p{", "a{1000}", "(a{1000})", "[a-", "{"])
      expressionSize(piece.repeat(100_000 / piece.length));
    expect(performance.now() - beganMs).toBeLessThan(1_000);
  });
});

const complaints = (regex: string) => [...regexRules(regex, [])].map(({ message }) => message);

describe("an expression", () => {
  it("that Envoy would refuse for its size is refused", () => {
    expect(complaints(".{1000}".repeat(20))).toEqual(["is a regular expression that is too large for Envoy"]);
    for (const [pattern] of measured) expect(complaints(pattern)).toEqual([]);
  });

  it("is not even compiled in an object that has too much of it altogether", () => {
    const value = "[\\pL\\pN]{0,900}";
    const match = (n: number) => ({
      path: { type: "RegularExpression" as const, value: `/${n}${value}` },
      headers: [{ type: "RegularExpression" as const, name: "x", value }],
    });
    const route = { rules: [{ matches: Array.from({ length: 64 }, (_, n) => match(n)) }] };
    const beganMs = performance.now();
    expect([...httpRouteRules(route)].map(({ severity, message }) => [severity, message])).toEqual([
      ["error", "has regular expressions that are too large together"],
    ]);
    expect(performance.now() - beganMs).toBeLessThan(500);
  });
});
