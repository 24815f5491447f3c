import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressesAt, allocate } from "../../lib/resolve/allocate.ts";

const none = new Map<string, number>();
const addressesOf = (services: readonly string[], taken: readonly string[] = []) => {
  const allocation = allocate(none, services, taken);
  return services.map((service) => addressesAt(allocation.get(service) ?? -1));
};

describe("allocate", () => {
  // As Istio gives them, by the facts of its releases up to 1.24.
  it.each([
    ["/foo.com", "240.240.227.81", "2001:2::f0f0:e351"],
    ["default/a.example.com", "240.240.219.81", "2001:2::f0f0:db51"],
    ["default/b.example.com", "240.240.117.22", "2001:2::f0f0:7516"],
    ["ns1/a.example.com", "240.240.61.72", "2001:2::f0f0:3d48"],
    ["default/mongo.db", "240.240.93.209", "2001:2::f0f0:5dd1"],
    ["/a17061.example.com", "240.240.25.11", "2001:2::f0f0:19b"],
  ])("gives %s the addresses that Istio does", (service, ipv4, ipv6) => {
    expect(addressesOf([service])).toEqual([[ipv4, ipv6]]);
  });

  it("gives no address twice, and changes none, whoever comes and goes", () => {
    const services = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 200 });
    fc.assert(
      fc.property(services, services, (first, second) => {
        const before = allocate(none, first, []);
        const after = allocate(before, second, []);
        expect(new Set(after.values()).size).toBe(after.size);
        for (const [service, place] of before) expect(after.get(service)).toBe(place);
        for (const service of second) expect(after.has(service)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("leaves addresses to those who have them", () => {
    const [[ipv4, ipv6] = ["", ""]] = addressesOf(["default/mongo.db"]);
    for (const taken of [ipv4, ipv6]) {
      const [[other] = [""]] = addressesOf(["default/mongo.db"], [taken]);
      expect(other).toMatch(/^240\.240\./);
      expect(other).not.toBe(ipv4);
    }
  });

  it("gives each of 40,000 hosts addresses of its own, none of which ends with 0", () => {
    const many = Array.from({ length: 40_000 }, (_, at) => `shop/host-${at}.example.com`);
    const allocation = allocate(none, many, []);
    expect(allocation.size).toBe(many.length);
    const addresses = [...allocation.values()].flatMap(addressesAt);
    expect(new Set(addresses).size).toBe(2 * many.length);
    expect(addresses.some((address) => address.endsWith(".0"))).toBe(false);
  });

  it("gives none where the range is full, and goes on", () => {
    const all = Array.from({ length: 65_024 }, (_, place) => addressesAt(place)[0]);
    expect(allocate(none, ["default/mongo.db", "default/other"], all)).toEqual(none);
  });
});
