import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fullHostName,
  hostsOverlap,
  hostTable,
  isSubsetHost,
  mostSpecific,
} from "../../../lib/mesh/hosts/host-name.ts";

describe("short names", () => {
  it.each([
    ["reviews", "reviews.ns1.svc.cluster.local"],
    ["reviews.ns2", "reviews.ns2"],
    ["*", "*"],
    ["*.com", "*.com"],
    ["", ""],
    ["10.0.0.1", "10.0.0.1"],
    ["fd00::1", "fd00::1"],
  ])("%s seen from ns1 is %s", (host, want) => {
    expect(fullHostName(host, "ns1", "cluster.local")).toBe(want);
  });
});

describe("overlap and subset", () => {
  it.each([
    { a: "a.com", b: "a.com", overlap: true, subset: true },
    { a: "a.com", b: "*.com", overlap: true, subset: true },
    { a: "*.com", b: "a.com", overlap: true, subset: false },
    { a: "*.a.com", b: "*.com", overlap: true, subset: true },
    { a: "*.com", b: "*.a.com", overlap: true, subset: false },
    { a: "*", b: "*.com", overlap: true, subset: false },
    { a: "b.com", b: "a.com", overlap: false, subset: false },
  ])("$a and $b: overlap $overlap, subset $subset", ({ a, b, overlap, subset }) => {
    expect(hostsOverlap(a, b)).toBe(overlap);
    expect(hostsOverlap(b, a)).toBe(overlap);
    expect(isSubsetHost(a, b)).toBe(subset);
  });
});

const label = fc.constantFrom("a", "b", "ab");
const plain = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const host = fc.oneof(
  plain,
  plain.map((name) => `*.${name}`),
  plain.map((name) => `*${name}`),
  fc.constant("*"),
);

describe("the most specific host", () => {
  it("is the exact one, else the longest wildcard that covers the name", () => {
    fc.assert(
      fc.property(fc.uniqueArray(host, { maxLength: 12 }), host, (hosts, name) => {
        const covering = hosts.filter((of) => (of.startsWith("*") ? isSubsetHost(name, of) : of === name));
        const exact = covering.find((of) => of === name);
        const longest = exact ?? covering.sort((a, b) => b.length - a.length)[0];
        const found = mostSpecific(hostTable(new Map(hosts.map((of) => [of, of]))), name);
        expect(found?.value.length).toBe(longest?.length);
      }),
    );
  });
});
