import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutOverlaps } from "../../../lib/xds/listeners/chain-overlap.ts";
import { type ChainMatch, matchAll } from "../../../lib/xds/listeners/filter-chain-match.ts";

const chain = (match: Partial<ChainMatch>) => ({ match: { ...matchAll, ...match } });

describe("chains of one listener", () => {
  it("stay as they are when nothing overlaps", () => {
    const chains = [chain({ sniHosts: ["a"] }), chain({ sniHosts: ["b"] }), chain({})];
    expect(withoutOverlaps(chains)).toEqual({ chains, trimmed: [] });
  });

  it("lose the server names that an earlier one has", () => {
    const [first, second, third] = [
      chain({ sniHosts: ["a", "b"] }),
      chain({ sniHosts: ["b", "c"] }),
      chain({ sniHosts: ["a"] }),
    ];
    const { chains, trimmed } = withoutOverlaps([first, second, third]);
    expect(chains).toEqual([first, chain({ sniHosts: ["c"] })]);
    expect(trimmed).toEqual([second, third]);
  });

  it("lose ranges that name the same network in other words", () => {
    const chains = [
      chain({ destinationCidrs: ["10.1.0.0/16"] }),
      chain({ destinationCidrs: ["10.1.9.9/16", "10.2.0.0/16"] }),
    ];
    expect(withoutOverlaps(chains).chains[1]).toEqual(chain({ destinationCidrs: ["10.2.0.0/16"] }));
  });

  it("may share a server name when their protocols differ", () => {
    const chains = [chain({ sniHosts: ["a"], applicationProtocols: ["h2"] }), chain({ sniHosts: ["a"] })];
    expect(withoutOverlaps(chains).trimmed).toEqual([]);
  });

  it("never claim the same connection twice", () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 3 });
    const match = fc.record({
      sniHosts: names,
      applicationProtocols: fc.uniqueArray(fc.constantFrom("x", "y"), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(match, { maxLength: 5 }), (matches) => {
        const claimsOf = ({ sniHosts, applicationProtocols }: ChainMatch) =>
          (sniHosts.length === 0 ? [""] : sniHosts).flatMap((host) =>
            (applicationProtocols.length === 0 ? [""] : applicationProtocols).map((protocol) => `${host}|${protocol}`),
          );
        const after = withoutOverlaps(matches.map(chain)).chains.flatMap((one) => claimsOf(one.match));
        expect(new Set(after).size).toBe(after.length);
      }),
    );
  });
});
