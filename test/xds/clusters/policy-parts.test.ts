import { describe, expect, it } from "vitest";
import { defaultMeshConfig } from "../../../lib/config/kinds/mesh-config.ts";
import type { Protocol } from "../../../lib/registry/service.ts";
import { circuitBreakers, connectionOptions } from "../../../lib/xds/clusters/connection-pool.ts";
import { httpOptions, type UpstreamHttpInputs, upstreamHttp } from "../../../lib/xds/clusters/http-options.ts";
import { loadBalancer } from "../../../lib/xds/clusters/load-balancer.ts";
import { errorMatcher, outlierDetection, panicThreshold } from "../../../lib/xds/clusters/outlier-detection.ts";
import type { SeenByProxy } from "../../../lib/xds/clusters/seen-by-proxy.ts";

const max = 4294967295;
const unlimited = { maxConnections: max, maxPendingRequests: max, maxRequests: max, maxRetries: max };

describe("circuitBreakers", () => {
  it.each([
    { says: "nothing", pool: undefined, want: {} },
    { says: "zeros, which are not told from nothing", pool: { tcp: { maxConnections: 0 } }, want: {} },
    {
      says: "all four limits",
      pool: { tcp: { maxConnections: 1 }, http: { http1MaxPendingRequests: 2, http2MaxRequests: 3, maxRetries: 4 } },
      want: { maxConnections: 1, maxPendingRequests: 2, maxRequests: 3, maxRetries: 4 },
    },
  ])("lifts every limit that a pool with $says leaves open", ({ pool, want }) => {
    expect(circuitBreakers(pool, undefined)).toEqual({ thresholds: [{ ...unlimited, ...want }] });
  });

  it.each([
    { budget: {}, want: { budgetPercent: { value: 20 }, minRetryConcurrency: 3 } },
    {
      budget: { percent: 35, minRetryConcurrency: 7 },
      want: { budgetPercent: { value: 35 }, minRetryConcurrency: 7 },
    },
    { budget: { percent: 0 }, want: { budgetPercent: {}, minRetryConcurrency: 3 } },
  ])("fills in what a retry budget $budget leaves out", ({ budget, want }) => {
    expect(circuitBreakers(undefined, budget).thresholds[0]?.retryBudget).toEqual(want);
  });
});

describe("connectionOptions", () => {
  const mesh = { ...defaultMeshConfig, tcpKeepalive: { probes: 3, time: "60s" } };

  it("is absent when nobody asks for keep-alive", () => {
    expect(connectionOptions(defaultMeshConfig, undefined)).toBeUndefined();
  });

  it("switches keep-alive on with the system's times for an empty message", () => {
    expect(connectionOptions(defaultMeshConfig, {})).toEqual({ upstreamConnectionOptions: { tcpKeepalive: {} } });
  });

  it("lays a rule over the mesh, attribute by attribute", () => {
    expect(connectionOptions(mesh, { time: "7200s", interval: "75s" })).toEqual({
      upstreamConnectionOptions: {
        tcpKeepalive: { keepaliveProbes: 3, keepaliveTime: 7200, keepaliveInterval: 75 },
      },
    });
  });
});

const http1 = { explicitHttpConfig: { httpProtocolOptions: {} } };
const http2 = { explicitHttpConfig: { http2ProtocolOptions: {} } };
const downstream = { useDownstreamProtocolConfig: { httpProtocolOptions: {}, http2ProtocolOptions: {} } };

describe("HTTP options", () => {
  const sidecar = { proxyType: "sidecar", preserveHeaderCase: false } as const;
  const router = { proxyType: "router", preserveHeaderCase: false } as const;
  const upgrading = { ...defaultMeshConfig, h2UpgradePolicy: "UPGRADE" } as const;
  const options = (
    { proxyType, preserveHeaderCase }: Pick<UpstreamHttpInputs, "preserveHeaderCase"> & Pick<SeenByProxy, "proxyType">,
    protocol: UpstreamHttpInputs["protocol"],
    pool: UpstreamHttpInputs["pool"],
    upgradeBy: UpstreamHttpInputs["upgradeBy"],
  ): unknown => {
    const http = upstreamHttp({ proxyType }, { protocol, pool, preserveHeaderCase, upgradeBy });
    const all = httpOptions(http, undefined)?.typedExtensionProtocolOptions;
    const { "@type": _type, ...rest } = Object.values(all ?? {})[0] ?? { "@type": "" };
    return all === undefined ? undefined : rest;
  };

  it.each([
    { port: "an HTTP port", on: sidecar, protocol: "HTTP", pool: undefined, mesh: defaultMeshConfig, want: undefined },
    { port: "a gRPC port", on: sidecar, protocol: "GRPC", pool: undefined, mesh: defaultMeshConfig, want: http2 },
    {
      port: "a sniffed port",
      on: sidecar,
      protocol: "Unsupported",
      pool: undefined,
      mesh: undefined,
      want: downstream,
    },
    {
      port: "the same at a gateway",
      on: router,
      protocol: "Unsupported",
      pool: undefined,
      mesh: undefined,
      want: undefined,
    },
    {
      port: "an HTTP port of an upgrading mesh",
      on: sidecar,
      protocol: "HTTP",
      pool: undefined,
      mesh: upgrading,
      want: http2,
    },
    { port: "a TCP port of it", on: sidecar, protocol: "TCP", pool: undefined, mesh: upgrading, want: undefined },
    {
      port: "a sniffed port of it",
      on: sidecar,
      protocol: "Unsupported",
      pool: undefined,
      mesh: upgrading,
      want: downstream,
    },
    {
      port: "an HTTP port whose rule refuses",
      on: sidecar,
      protocol: "HTTP",
      pool: { http: { h2UpgradePolicy: "DO_NOT_UPGRADE" } },
      mesh: upgrading,
      want: undefined,
    },
    {
      port: "a TCP port whose rule insists",
      on: sidecar,
      protocol: "TCP",
      pool: { http: { h2UpgradePolicy: "UPGRADE" } },
      mesh: defaultMeshConfig,
      want: http2,
    },
    {
      port: "a gateway's port that keeps the client's protocol",
      on: router,
      protocol: "HTTP",
      pool: { http: { useClientProtocol: true, h2UpgradePolicy: "UPGRADE" } },
      mesh: upgrading,
      want: downstream,
    },
    {
      port: "a TCP port with an idle timeout",
      on: sidecar,
      protocol: "TCP",
      pool: { tcp: { idleTimeout: "20s", maxConnectionDuration: "60s" } },
      mesh: defaultMeshConfig,
      want: { commonHttpProtocolOptions: { idleTimeout: "20s", maxConnectionDuration: "60s" }, ...http1 },
    },
    {
      port: "an HTTP port with two idle timeouts",
      on: sidecar,
      protocol: "HTTP",
      pool: { tcp: { idleTimeout: "20s" }, http: { idleTimeout: "5s" } },
      mesh: defaultMeshConfig,
      want: { commonHttpProtocolOptions: { idleTimeout: "5s" }, ...http1 },
    },
    {
      port: "an HTTP/1.1 port with a limit of streams",
      on: sidecar,
      protocol: "HTTP",
      pool: { http: { maxConcurrentStreams: 10 } },
      mesh: defaultMeshConfig,
      want: { commonHttpProtocolOptions: {}, ...http1 },
    },
    {
      port: "an HTTP/2 port with a limit of streams",
      on: sidecar,
      protocol: "HTTP2",
      pool: { http: { maxConcurrentStreams: 10 } },
      mesh: defaultMeshConfig,
      want: {
        commonHttpProtocolOptions: {},
        explicitHttpConfig: { http2ProtocolOptions: { maxConcurrentStreams: 10 } },
      },
    },
  ] as const)("for $port", ({ on, protocol, pool, mesh, want }) => {
    expect(options(on, protocol, pool, mesh)).toEqual(want);
  });

  it("keep the case of headers for HTTP/1.1 only", () => {
    const keeping = { ...sidecar, preserveHeaderCase: true };
    const formatter = { headerKeyFormat: { statefulFormatter: { name: "preserve_case" } } };
    expect(options(keeping, "HTTP", undefined, undefined)).toMatchObject({
      explicitHttpConfig: { httpProtocolOptions: formatter },
    });
    expect(options(keeping, "Unsupported", undefined, undefined)).toMatchObject({
      useDownstreamProtocolConfig: { httpProtocolOptions: formatter, http2ProtocolOptions: {} },
    });
    expect(options(keeping, "GRPC", undefined, undefined)).toEqual(http2);
    expect(options(keeping, "TCP", undefined, undefined)).toBeUndefined();
  });
});

describe("loadBalancer", () => {
  it("weighs by utilization, with the weights of localities around it", () => {
    const settings = { backendUtilization: { weightUpdatePeriod: "2s", errorUtilizationPenaltyPercent: 150 } };
    const picking = {
      policies: [
        {
          typedExtensionConfig: {
            name: "envoy.load_balancing_policies.client_side_weighted_round_robin",
            typedConfig: {
              "@type":
                "type.googleapis.com/envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
              weightUpdatePeriod: "2s",
              errorUtilizationPenalty: 1.5,
            },
          },
        },
      ],
    };
    expect(loadBalancer(settings)).toEqual({ loadBalancingPolicy: picking });
    expect(loadBalancer(settings, true)).toMatchObject({
      loadBalancingPolicy: {
        policies: [
          {
            typedExtensionConfig: {
              name: "envoy.load_balancing_policies.wrr_locality",
              typedConfig: { endpointPickingPolicy: picking },
            },
          },
        ],
      },
    });
    // In Envoy errors count unless it is told otherwise.
    expect(JSON.stringify(loadBalancer({ backendUtilization: {} }))).toContain('"errorUtilizationPenalty":0');
  });

  it.each([
    { settings: undefined, want: { lbPolicy: "LEAST_REQUEST" } },
    { settings: { simple: "UNSPECIFIED" }, want: { lbPolicy: "LEAST_REQUEST" } },
    { settings: { simple: "LEAST_CONN" }, want: { lbPolicy: "LEAST_REQUEST" } },
    { settings: { simple: "ROUND_ROBIN" }, want: {} },
    { settings: { simple: "RANDOM", warmup: { duration: "10s" } }, want: { lbPolicy: "RANDOM" } },
    { settings: { consistentHash: { useSourceIp: true } }, want: ring("1024") },
    { settings: { consistentHash: { minimumRingSize: 2048 } }, want: ring("2048") },
    { settings: { consistentHash: { ringHash: {} } }, want: { lbPolicy: "RING_HASH" } },
    { settings: { consistentHash: { ringHash: { minimumRingSize: 512 } } }, want: ring("512") },
    { settings: { consistentHash: { maglev: {} } }, want: { lbPolicy: "MAGLEV" } },
    {
      settings: { consistentHash: { maglev: { tableSize: 65537 } } },
      want: { lbPolicy: "MAGLEV", maglevLbConfig: { tableSize: "65537" } },
    },
    {
      settings: { warmupDurationSecs: "30s" },
      want: { lbPolicy: "LEAST_REQUEST", leastRequestLbConfig: { slowStartConfig: { slowStartWindow: "30s" } } },
    },
    {
      settings: { simple: "ROUND_ROBIN", warmup: { duration: "45s", minimumPercent: 0, aggression: 2 } },
      want: {
        roundRobinLbConfig: {
          slowStartConfig: {
            slowStartWindow: "45s",
            aggression: { defaultValue: 2, runtimeKey: "(" },
            minWeightPercent: {},
          },
        },
      },
    },
    {
      settings: { warmup: { duration: "10s" }, warmupDurationSecs: "99s" },
      want: {
        lbPolicy: "LEAST_REQUEST",
        leastRequestLbConfig: {
          slowStartConfig: {
            slowStartWindow: "10s",
            aggression: { defaultValue: 1, runtimeKey: "(" },
            minWeightPercent: { value: 10 },
          },
        },
      },
    },
  ] as const)("is $want for $settings", ({ settings, want }) => {
    expect(loadBalancer(settings)).toEqual(want);
  });
});

function ring(minimumRingSize: string) {
  return { lbPolicy: "RING_HASH", ringHashLbConfig: { minimumRingSize } } as const;
}

describe("outlierDetection", () => {
  it("ejects by the share of failures where one is stated, of the own side as well where that is told apart", () => {
    const of = (settings: Parameters<typeof outlierDetection>[0]) => outlierDetection(settings)?.outlierDetection;
    expect(of({ failurePercentageThreshold: 30 })).toEqual({
      enforcingSuccessRate: 0,
      failurePercentageThreshold: 30,
      enforcingFailurePercentage: 100,
    });
    expect(of({ failurePercentageThreshold: 0, splitExternalLocalOriginErrors: true })).toMatchObject({
      failurePercentageThreshold: 0,
      enforcingFailurePercentage: 100,
      enforcingFailurePercentageLocalOrigin: 100,
    });
  });

  it("counts the stated status codes as errors, on ports of every protocol, as Istio does", () => {
    const options = (protocol: Protocol, ...outlierDetectionHttpErrorCodes: number[]) =>
      JSON.stringify(
        httpOptions(
          upstreamHttp(
            { proxyType: "sidecar" },
            {
              protocol,
              pool: undefined,
              outliers: { outlierDetectionHttpErrorCodes },
              preserveHeaderCase: false,
              upgradeBy: undefined,
            },
          ),
          undefined,
        ) ?? {},
      );
    const of = (code: number) =>
      `{"httpResponseHeadersMatch":{"headers":[{"name":":status","stringMatch":{"exact":"${code}"}}]}}`;
    for (const protocol of ["HTTP", "GRPC", "Unsupported", "TCP"] as const) {
      expect(options(protocol, 429, 503)).toContain(`"errorMatcher":{"orMatch":{"rules":[${of(429)},${of(503)}]}}`);
      expect(options(protocol, 429)).toContain(`"errorMatcher":${of(429)}`);
    }
    expect(options("TCP")).toBe("{}");
    expect(errorMatcher({})).toBeUndefined();
  });

  it.each([
    { settings: {}, want: {} },
    { settings: { consecutiveErrors: 3 }, want: {} },
    { settings: { consecutive5xxErrors: 5 }, want: { consecutive5xx: 5, enforcingConsecutive5xx: 100 } },
    { settings: { consecutive5xxErrors: 0 }, want: { consecutive5xx: 0, enforcingConsecutive5xx: 0 } },
    {
      settings: { consecutiveGatewayErrors: 2, maxEjectionPercent: 100, interval: "5s" },
      want: {
        consecutiveGatewayFailure: 2,
        enforcingConsecutiveGatewayFailure: 100,
        maxEjectionPercent: 100,
        interval: "5s",
      },
    },
    { settings: { consecutiveLocalOriginFailures: 4 }, want: {} },
    {
      settings: { splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 4 },
      want: {
        splitExternalLocalOriginErrors: true,
        enforcingLocalOriginSuccessRate: 0,
        consecutiveLocalOriginFailure: 4,
        enforcingConsecutiveLocalOriginFailure: 100,
      },
    },
  ])("is $want beside the success rate for $settings", ({ settings, want }) => {
    expect(outlierDetection(settings)).toEqual({ outlierDetection: { enforcingSuccessRate: 0, ...want } });
  });

  it.each([
    { settings: undefined, unhealthy: false, want: undefined },
    { settings: {}, unhealthy: false, want: { healthyPanicThreshold: {} } },
    { settings: { minHealthPercent: 20 }, unhealthy: false, want: { healthyPanicThreshold: { value: 20 } } },
    { settings: { minHealthPercent: 20 }, unhealthy: true, want: { healthyPanicThreshold: {} } },
    { settings: undefined, unhealthy: true, want: { healthyPanicThreshold: {} } },
  ])("panics at $want with $settings, unready endpoints sent: $unhealthy", ({ settings, unhealthy, want }) => {
    expect(panicThreshold(settings, unhealthy)).toEqual(want);
  });
});
