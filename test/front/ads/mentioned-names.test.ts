import { describe, expect, it } from "vitest";
import { maxErrorLength, mentionedNames, mentionsIn } from "../../../lib/streams/mentioned-names.ts";

const names = [
  "a",
  "a.b",
  "outbound|80|v1|reviews.shop.svc.cluster.local",
  "0.0.0.0_80",
  "kubernetes://shop",
  "my name",
];

describe("the names that a NACK's text mentions", () => {
  it.each([
    ["Error adding/updating cluster(s) a: no", ["a"]],
    ["a is wrong", ["a"]],
    ["it is a", ["a"]],
    ["it is 'a'.", ["a"]],
    ["it is a.", ["a"]],
    ["it is a.b.", ["a.b"]],
    ["not b-a, a-b, xa, a|b, a_b or .a", []],
    ["cluster outbound|80|v1|reviews.shop.svc.cluster.local: no", [names[2]]],
    ["cluster outbound|80|v1|reviews.shop.svc.cluster.local.: no", [names[2]]],
    ["listener 0.0.0.0_80, secret kubernetes://shop", ["0.0.0.0_80", "kubernetes://shop"]],
    ["my name is not to its liking", ["my name"]],
    ["", []],
  ])("of %j are %j", (text, expected) => {
    expect(mentionedNames(text, names)).toEqual(expected);
  });

  it("come in the order of the answer, each once", () => {
    expect(mentionedNames("b, a and b", ["a", "b", "c"])).toEqual(["a", "b"]);
  });

  it("are looked for in as much of the text as Envoy sends", () => {
    const before = "x ".repeat(maxErrorLength / 2 - 2);
    expect(mentionedNames(`${before}a`, ["a"])).toEqual(["a"]);
    expect(mentionedNames(`${before}xxxxx a`, ["a"])).toEqual([]);
  });

  it.each([
    ["one long word", "a".repeat(4_000_000)],
    ["words of one letter", "a ".repeat(2_000_000)],
    ["nothing but marks", "/".repeat(4_000_000)],
    ["words joined by marks", "a/".repeat(2_000_000)],
  ])("are looked up a number of times that follows what is read of the text, in %s", (_what, text) => {
    const mentions = [...mentionsIn(text)];
    expect(mentions.length).toBeLessThanOrEqual(8 * maxErrorLength);
    expect(mentions.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(40 * maxErrorLength);
  });
});
