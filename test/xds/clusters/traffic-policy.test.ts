import { describe, expect, it } from "vitest";
import { effectivePolicy } from "../../../lib/xds/clusters/traffic-policy.ts";
import { rule } from "../world-parts.ts";

const random = { simple: "RANDOM" } as const;
const roundRobin = { simple: "ROUND_ROBIN" } as const;
const tls = { mode: "SIMPLE" } as const;
const pool = { tcp: { maxConnections: 5 } };

describe("effectivePolicy", () => {
  it("is nothing without a rule", () => {
    expect(effectivePolicy(undefined, "", 80)).toBeUndefined();
  });

  it("takes whole fields of the subset and the rest of the host", () => {
    const merged = rule({
      host: "a",
      trafficPolicy: { loadBalancer: random, connectionPool: pool, tls },
      subsets: [{ name: "v1", trafficPolicy: { connectionPool: { http: { maxRetries: 2 } } } }],
    });
    expect(effectivePolicy(merged, "v1", 80)).toEqual({
      loadBalancer: random,
      connectionPool: { http: { maxRetries: 2 } },
      tls,
    });
    expect(effectivePolicy(merged, "", 80)).toEqual({ loadBalancer: random, connectionPool: pool, tls });
  });

  it("drops everything else of a level for a port that has an entry", () => {
    const byPort = rule({
      host: "a",
      trafficPolicy: {
        tls,
        loadBalancer: random,
        proxyProtocol: { version: "V2" },
        portLevelSettings: [{ port: { number: 80 }, connectionPool: pool }],
      },
    });
    expect(effectivePolicy(byPort, "", 80)).toEqual({ connectionPool: pool });
    expect(effectivePolicy(byPort, "", 443)).toEqual({ tls, loadBalancer: random, proxyProtocol: { version: "V2" } });
  });

  it("unsets pool, outlier detection, balancer and TLS where a port entry of the subset is silent, and only these", () => {
    const bySubsetPort = rule({
      host: "a",
      trafficPolicy: { tls, loadBalancer: random, connectionPool: pool, outlierDetection: {}, retryBudget: {} },
      subsets: [
        { name: "v1", trafficPolicy: { portLevelSettings: [{ port: { number: 80 }, loadBalancer: roundRobin }] } },
      ],
    });
    expect(effectivePolicy(bySubsetPort, "v1", 80)).toEqual({ loadBalancer: roundRobin, retryBudget: {} });
    expect(effectivePolicy(bySubsetPort, "v1", 443)).toMatchObject({ tls, loadBalancer: random });
  });

  it("is the host's policy for a subset that nobody declares", () => {
    expect(effectivePolicy(rule({ host: "a", trafficPolicy: { tls } }), "v9", 80)).toEqual({ tls });
  });
});
