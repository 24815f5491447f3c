import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/mesh/memo/memo.ts";
import { type Claim, settledClaims } from "../../../lib/xds/routes/settled-claims.ts";
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

/** As a namespace sees them: its own ones have a name more. */
const seenFrom = (namespace: string): readonly Claim[] =>
  hosts.map((hostname) => {
    const [name = "", of = ""] = hostname.split(".");
    const all = [hostname, `${name}.${of}`, ...(of === namespace ? [name] : [])];
    return {
      name: `${hostname}:80`,
      port: 80,
      hostname,
      domains: { all, keys: all, derived: all.map((domain) => domain !== hostname) },
    };
  });

const claimed = (claims: readonly Claim[], brought = 1) => ({
  claims: claims.slice(0, brought).map((claim) => [claim]),
  ofOthers: claims.slice(brought),
  services,
  port: 80,
});

/** Perhaps none. */
const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", ...hosts.slice(0, 2)), { maxLength: 3 });

/** Names that others may have, and domains for which others may be first. */
const anyClaims = fc.array(
  fc.record({
    name: fc.constantFrom("1", "2", "3"),
    all: keys,
    isDerived: fc.boolean(),
    port: fc.constantFrom(80, 81),
  }),
  { minLength: 3, maxLength: 5 },
);

describe("claims that are settled", () => {
  it("are settled once for namespaces that differ in the short names of their own services", () => {
    const memo = createMemo();
    const one = settledClaims(memo, claimed(seenFrom("one")));
    expect(settledClaims(memo, claimed(seenFrom("two")))).toBe(one);
    expect(settledClaims(memo, claimed(seenFrom("three")))).toBe(one);
    expect(one).toEqual(settledClaims(noMemo, claimed(seenFrom("two"))));
  });

  it("are settled anew where one namespace asks for what another's host has", () => {
    const memo = createMemo();
    const plain = seenFrom("one");
    const taken = { all: ["b"], keys: ["b"], derived: [false] };
    const crossed = [...plain.slice(0, 3), { ...(plain[3] as Claim), domains: taken }];
    const one = settledClaims(memo, claimed(plain));
    expect(one.trimmed.size).toBe(0);
    expect(settledClaims(memo, claimed(crossed))).toEqual(settledClaims(noMemo, claimed(crossed)));
    expect(settledClaims(noMemo, claimed(crossed)).count).toBe(3);
  });

  it("are settled anew where another virtual service brings a host, though all bring the same", () => {
    const memo = createMemo();
    const [a, b, c, d] = seenFrom("one") as [Claim, Claim, Claim, Claim];
    const settledFor = (claims: readonly (readonly Claim[])[]) =>
      settledClaims(memo, { claims, ofOthers: [d], services, port: 80 });
    expect(settledFor([[a, b], [c]])).not.toBe(settledFor([[a], [b, c]]));
  });

  it("are what they are without a memory, whatever was settled before", () => {
    const history = fc.array(fc.tuple(anyClaims, fc.nat(2)), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(history, fc.constantFrom(80, 0), (tables, port) => {
        const memo = createMemo();
        for (const [table, brought] of tables) {
          const claims = table.map(({ name, all, isDerived, port }): Claim => {
            const domains = { all, keys: all, derived: all.map(() => isDerived) };
            return { name, port, hostname: name, domains };
          });
          const asked = { ...claimed(claims, brought), port };
          expect(settledClaims(memo, asked)).toEqual(settledClaims(noMemo, asked));
        }
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  it("are what they are without a memory where the names are the same and the domains are others", () => {
    const domains = fc.array(fc.tuple(keys, fc.boolean()), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(domains, { minLength: 2, maxLength: 6 }), (tables) => {
        const memo = createMemo();
        for (const table of tables) {
          const claims = table.map(([all, isDerived], at): Claim => {
            const names = { all, keys: all, derived: all.map(() => isDerived) };
            return { name: `${at}`, port: 80, hostname: hosts[at] ?? "", domains: names };
          });
          expect(settledClaims(memo, claimed(claims, 2))).toEqual(settledClaims(noMemo, claimed(claims, 2)));
        }
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });
});
