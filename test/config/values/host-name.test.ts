import { describe, expect, it } from "vitest";
import { fullHostName, hostsOverlap, isSubsetHost } from "../../../lib/config/values/host-name.ts";

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
