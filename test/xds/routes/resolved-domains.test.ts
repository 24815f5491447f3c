import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { type Claim, resolvedDomains } from "../../../lib/xds/routes/resolved-domains.ts";
import { tableServices } from "../../../lib/xds/routes/table-services.ts";
import { propertyRuns } from "../../soak-options.ts";
import { service } from "./fixture.ts";

const hosts = [
  "a.one.svc.cluster.local",
  "b.one.svc.cluster.local",
  "a.two.svc.cluster.local",
  "b.two.svc.cluster.local",
];
const services = tableServices(noMemo, {
  services: hosts.map((host) => service(host, [[80, "HTTP"]])),
  port: 80,
  namesPorts: false,
});

const domainsOf = (all: readonly string[], isDerived: (domain: string) => boolean) => ({
  all,
  keys: all,
  derived: all.map(isDerived),
});

/** As a namespace sees them: its own ones have a name more. */
const seenFrom = (namespace: string): readonly Claim[] =>
  hosts.map((hostname) => {
    const [name = "", of = ""] = hostname.split(".");
    const isDerived = (domain: string): boolean => domain !== hostname;
    const elsewhere = domainsOf([hostname, `${name}.${of}`], isDerived);
    const domains = of === namespace ? { ...domainsOf([...elsewhere.all, name], isDerived), elsewhere } : elsewhere;
    return { name: `${hostname}:80`, port: 80, hostname, domains };
  });

const claimed = (claims: readonly Claim[], fromVirtualServices = 1) => ({
  claims: claims.slice(0, fromVirtualServices).map((claim) => [claim]),
  ofDefaults: claims.slice(fromVirtualServices),
  services,
  port: 80,
});

/** Perhaps none. */
const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", ...hosts.slice(0, 2)), { maxLength: 3 });

/** Names that others may have, domains for which others may be first, and others that the same host has elsewhere. */
const anyClaims = fc.array(
  fc.record({
    name: fc.constantFrom("1", "2", "3", "4", "5"),
    all: keys,
    isDerived: fc.boolean(),
    elsewhere: fc.option(fc.record({ all: keys, isDerived: fc.boolean() }), { nil: undefined }),
  }),
  { minLength: 3, maxLength: 5 },
);

describe("claims that are settled", () => {
  it("are settled once for namespaces that differ in the short names of their own services", () => {
    const memo = createMemo();
    const one = resolvedDomains(memo, claimed(seenFrom("one")));
    expect(resolvedDomains(memo, claimed(seenFrom("two")))).toBe(one);
    expect(resolvedDomains(memo, claimed(seenFrom("three")))).toBe(one);
    expect(one).toEqual(resolvedDomains(noMemo, claimed(seenFrom("two"))));
  });

  it("are settled anew where one namespace asks for what another's host has", () => {
    const memo = createMemo();
    const plain = seenFrom("one");
    const taken = { all: ["b"], keys: ["b"], derived: [false] };
    const crossed = [...plain.slice(0, 3), { ...(plain[3] as Claim), domains: taken }];
    const one = resolvedDomains(memo, claimed(plain));
    expect(one.trimmed.size).toBe(0);
    expect(resolvedDomains(memo, claimed(crossed))).toEqual(resolvedDomains(noMemo, claimed(crossed)));
    expect(resolvedDomains(noMemo, claimed(crossed)).count).toBe(3);
  });

  it("are settled anew where another virtual service brings a host, though all bring the same", () => {
    const memo = createMemo();
    const [a, b, c, d] = seenFrom("one") as [Claim, Claim, Claim, Claim];
    const settledFor = (claims: readonly (readonly Claim[])[]) =>
      resolvedDomains(memo, { claims, ofDefaults: [d], services, port: 80 });
    expect(settledFor([[a, b], [c]])).not.toBe(settledFor([[a], [b, c]]));
  });

  it("are what they are where nothing is known of other namespaces, whatever these have and whatever was settled before", () => {
    const history = fc.array(fc.tuple(anyClaims, fc.nat(2)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(history, fc.constantFrom(80, 80, 0), (tables, port) => {
        const memo = createMemo();
        for (const [table, fromVirtualServices] of tables) {
          const alone = table.map(({ name, all, isDerived }): Claim => {
            return { name, port: 80, hostname: hosts[Number(name)] ?? "", domains: domainsOf(all, () => isDerived) };
          });
          const seen = alone.map((claim, at): Claim => {
            const other = table[at]?.elsewhere;
            const elsewhere = other && domainsOf(other.all, () => other.isDerived);
            return elsewhere === undefined ? claim : { ...claim, domains: { ...claim.domains, elsewhere } };
          });
          const expected = resolvedDomains(noMemo, { ...claimed(alone, fromVirtualServices), port });
          expect(resolvedDomains(memo, { ...claimed(seen, fromVirtualServices), port })).toEqual(expected);
        }
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });
});
