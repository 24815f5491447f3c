import { describe, expect, it } from "vitest";
import { comparableEndpoints } from "../../../lib/cli/inspect/comparable-endpoints.ts";

const at = (address: string, more: object = {}) => ({
  endpoint: { address: { socketAddress: { address, portValue: 80 } } },
  ...more,
});

describe("endpoints that are compared with those of an Envoy", () => {
  it("are the same where the Envoy says what nothing set", () => {
    const sent = {
      clusterName: "a",
      endpoints: [
        { lbEndpoints: [], locality: { region: "r0" } },
        { lbEndpoints: [at("10.0.0.2"), at("10.0.0.1", { healthStatus: "DRAINING" })], locality: { region: "r2" } },
        { lbEndpoints: [at("10.0.0.3", { loadBalancingWeight: 1 })], locality: {}, priority: 1 },
      ],
    };
    const dumped = {
      clusterName: "a",
      policy: { overprovisioningFactor: 140 },
      endpoints: [
        {
          priority: 1,
          lbEndpoints: [at("10.0.0.3", { healthStatus: "HEALTHY", loadBalancingWeight: 1, metadata: {} })],
        },
        {
          locality: { region: "r2" },
          lbEndpoints: [
            at("10.0.0.1", { healthStatus: "UNHEALTHY", loadBalancingWeight: 1 }),
            {
              endpoint: { address: { socketAddress: { portValue: 80, address: "10.0.0.2" } }, healthCheckConfig: {} },
              healthStatus: "HEALTHY",
              loadBalancingWeight: 1,
            },
          ],
        },
      ],
    };
    expect(comparableEndpoints(dumped)).toEqual(comparableEndpoints(sent));
  });

  it.each([
    ["another weight", at("10.0.0.1", { loadBalancingWeight: 2 })],
    ["another address", at("10.0.0.2")],
    ["another health", at("10.0.0.1", { healthStatus: "UNHEALTHY" })],
    ["metadata", at("10.0.0.1", { metadata: { filterMetadata: { a: { b: "c" } } } })],
    ["a health check's own port", { endpoint: { ...at("10.0.0.1").endpoint, healthCheckConfig: { portValue: 1 } } }],
  ])("are not the same with %s", (_what, other) => {
    const of = (member: object) => comparableEndpoints({ clusterName: "a", endpoints: [{ lbEndpoints: [member] }] });
    expect(of(other)).not.toEqual(of(at("10.0.0.1")));
  });

  it("are not the same with another policy, locality or priority", () => {
    const of = (more: object, group: object = {}) =>
      comparableEndpoints({ clusterName: "a", ...more, endpoints: [{ lbEndpoints: [at("10.0.0.1")], ...group }] });
    const all = [
      of({}),
      of({ policy: { overprovisioningFactor: 200 } }),
      of({ policy: { dropOverloads: [{ category: "x" }] } }),
      of({}, { locality: { zone: "z" } }),
      of({}, { priority: 1 }),
      of({}, { loadBalancingWeight: 3 }),
    ];
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(all.length);
  });
});
