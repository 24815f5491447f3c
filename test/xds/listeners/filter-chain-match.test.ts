import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskedCidr } from "../../../lib/config/values/ip-address.ts";
import {
  type ChainMatch,
  filterChainMatch,
  isMatchAll,
  matchAll,
  matchKey,
} from "../../../lib/xds/listeners/filter-chain-match.ts";

describe("the match of a chain", () => {
  it("says nothing where any server name will do", () => {
    expect(filterChainMatch({ ...matchAll, sniHosts: ["a.example.com", "*"] })).toBeUndefined();
  });

  it("writes server names and ranges in the order of their texts", () => {
    const match = { ...matchAll, sniHosts: ["b", "a"], destinationCidrs: ["10.9.0.0/16", "10.1.0.1"] };
    expect(filterChainMatch(match)).toEqual({
      serverNames: ["a", "b"],
      prefixRanges: [
        { addressPrefix: "10.1.0.1", prefixLen: 32 },
        { addressPrefix: "10.9.0.0", prefixLen: 16 },
      ],
    });
  });

  it("leaves out the unspecified address, but is a match all the same", () => {
    const match = { ...matchAll, destinationCidrs: ["0.0.0.0/0"] };
    expect(isMatchAll(match)).toBe(false);
    expect(filterChainMatch(match)).toEqual({});
  });
});

describe("matches that clash", () => {
  const text = fc.constantFrom("a", "b", "c", "*");
  const cidr = fc.constantFrom("10.0.0.0/8", "10.1.2.3/8", "10.0.0.1", "fd00::/16", "0.0.0.0/0");
  const match: fc.Arbitrary<ChainMatch> = fc.record({
    sniHosts: fc.array(text, { maxLength: 3 }),
    destinationCidrs: fc.array(cidr, { maxLength: 3 }),
    applicationProtocols: fc.array(text, { maxLength: 2 }),
    transportProtocol: fc.constantFrom("", "tls", "raw_buffer"),
  });

  it("are found whatever the order of names and ranges", () => {
    fc.assert(
      fc.property(match, (one) => {
        const other = {
          ...one,
          sniHosts: one.sniHosts.toReversed(),
          destinationCidrs: one.destinationCidrs.toReversed(),
        };
        expect(matchKey(other)).toBe(matchKey(one));
      }),
    );
  });

  it("are found by the network of a range, not by its address", () => {
    const of = (...destinationCidrs: string[]) => matchKey({ ...matchAll, destinationCidrs });
    expect(of("10.1.2.3/8")).toBe(of("10.9.9.9/8"));
    expect(of("10.1.2.3/8")).not.toBe(of("10.1.2.3/16"));
    expect(of("10.1.2.3")).toBe(of("10.1.2.3/32"));
  });

  it("differ when the order of protocols does", () => {
    const of = (...applicationProtocols: string[]) => matchKey({ ...matchAll, applicationProtocols });
    expect(of("h2", "http/1.1")).not.toBe(of("http/1.1", "h2"));
  });
});

describe("maskedCidr", () => {
  it.each([
    ["10.1.2.3/12", "10.0.0.0/12"],
    ["10.17.2.3/12", "10.16.0.0/12"],
    ["192.0.2.1", "192.0.2.1/32"],
    ["fd00:1::1/16", "fd00::/16"],
    ["FD00:0:0:0::0001", "fd00::1/128"],
    ["not an address", undefined],
    ["300.1.1.1", undefined],
    ["10.0.0.0/33", undefined],
  ])("reads %s as %s", (range, want) => {
    expect(maskedCidr(range)).toBe(want);
  });
});
