import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { hostsOverlap, isSubsetHost } from "../../../lib/config/values/host-name.ts";
import { createHostSet } from "../../../lib/config/values/host-set.ts";

/** Few letters, so that many hosts overlap. */
const host = fc
  .tuple(fc.constantFrom("", "*", "*.", "*b."), fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }))
  .map(([start, labels]) => start + labels.join("."));

describe("a set of hosts", () => {
  it("finds the first host that overlaps, as a comparison with each of them does", () => {
    fc.assert(
      fc.property(fc.array(host, { maxLength: 8 }), (hosts) => {
        const set = createHostSet(hosts);
        const firsts = hosts.map((wanted) => hosts.findIndex((one) => hostsOverlap(one, wanted)));
        expect(hosts.map((_, at) => set.firstOverlap(at))).toEqual(firsts);
      }),
    );
  });

  it("covers a host where one of its hosts does", () => {
    fc.assert(
      fc.property(fc.array(host, { maxLength: 8 }), host, (hosts, wanted) => {
        expect(createHostSet(hosts).covers(wanted)).toBe(hosts.some((one) => isSubsetHost(wanted, one)));
      }),
    );
  });

  it("cuts each host once for each length of a wildcard, however many hosts there are", () => {
    const slices = (count: number): number => {
      const hosts = [...Array.from({ length: count }, (_, at) => `h${at}.example`), "*.a.example", "*.b.example"];
      const spy = vi.spyOn(String.prototype, "slice");
      try {
        const set = createHostSet(hosts);
        for (const at of hosts.keys()) set.firstOverlap(at);
        return spy.mock.calls.length;
      } finally {
        spy.mockRestore();
      }
    };
    const [some, more] = [slices(100), slices(200)];
    expect(some).toBeGreaterThan(100);
    expect(more).toBeLessThan(2.1 * some);
  });
});
