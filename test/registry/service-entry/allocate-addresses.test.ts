import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegistry } from "../../../lib/registry/build-registry.ts";
import { allocateAddresses } from "../../../lib/registry/service-entry/allocate-addresses.ts";
import { propertyRuns } from "../../soak-options.ts";
import { serviceEntry, world } from "../objects.ts";

describe("hashed addresses", () => {
  it.each([
    ["/foo.com", "240.240.227.81", "2001:2::f0f0:e351"],
    ["default/a.example.com", "240.240.219.81", "2001:2::f0f0:db51"],
    ["default/b.example.com", "240.240.117.22", "2001:2::f0f0:7516"],
    ["ns1/a.example.com", "240.240.61.72", "2001:2::f0f0:3d48"],
    ["ns2/a.example.com", "240.240.143.231", "2001:2::f0f0:8fe7"],
    ["default/mongo.db", "240.240.93.209", "2001:2::f0f0:5dd1"],
    ["a/a.example.com", "240.240.134.206", "2001:2::f0f0:86ce"],
    ["b/a.example.com", "240.240.41.100", "2001:2::f0f0:2964"],
    ["/a17061.example.com", "240.240.25.11", "2001:2::f0f0:19b"],
    ["/a44155.example.com", "240.240.31.17", "2001:2::f0f0:1f11"],
  ])("of %s are %s and %s", (key, v4, v6) => {
    expect(allocateAddresses([key]).get(key)).toEqual({ v4, v6 });
  });

  it("are different for different keys, and never end in 0 or 255", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.domain(), { maxLength: 400 }), (keys) => {
        const addresses = [...allocateAddresses(keys).values()].map(({ v4 }) => v4);
        expect(addresses).toHaveLength(keys.length);
        expect(new Set(addresses).size).toBe(keys.length);
        expect(addresses.filter((address) => /\.(0|255)$/.test(address))).toEqual([]);
      }),
      { numRuns: propertyRuns(30) },
    );
  });

  it("are given only where asked for, to services with a name and without an address", () => {
    const ports = [{ number: 80, name: "tcp", protocol: "TCP" }];
    const configs = [
      serviceEntry("default/a", { hosts: ["a.example.com", "*.wild.example"], resolution: "DNS", ports }),
      serviceEntry("default/b", { hosts: ["b.example.com"], addresses: ["10.0.0.1"], resolution: "DNS", ports }),
      serviceEntry("default/c", { hosts: ["c.example.com"], resolution: "NONE", ports }),
    ];
    const given = (more: Parameters<typeof world>[2]) =>
      buildRegistry(world([], configs, more)).value.services.map(({ autoAllocatedIPv4 }) => autoAllocatedIPv4);
    expect(given({})).toEqual(["", "", "", ""]);
    expect(given({ addressAllocation: "hash" })).toEqual(["", "240.240.219.81", "", ""]);
  });
});
