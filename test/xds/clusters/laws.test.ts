import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TrafficPolicy } from "../../../lib/config/kinds/destination-rule.ts";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import type { Endpoint, Protocol, Resolution } from "../../../lib/registry/service.ts";
import { generateEndpoints } from "../../../lib/xds/endpoints/generate-endpoints.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { clustersOf, clusterView, endpoint, type Parts, port, rule, service } from "../world-parts.ts";

const optional: { requiredKeys: [] } = { requiredKeys: [] };
const limit = fc.nat({ max: 9 });
const duration = fc.constantFrom("0s", "1s", "0.250s");
const localities = fc.constantFrom("", "r1", "r1/z1", "r1/z2", "r2/z1/s1");

const level = fc.record(
  {
    loadBalancer: fc.oneof(
      fc.record({ simple: fc.constantFrom("RANDOM", "ROUND_ROBIN", "PASSTHROUGH", "LEAST_CONN", "UNSPECIFIED") }),
      fc.record({ consistentHash: fc.constant({ useSourceIp: true }) }),
      fc.record({
        localityLbSetting: fc.oneof(
          fc.constant({ distribute: [{ from: "*", to: { "r1/*": 70, r2: 30 } }] }),
          fc.constant({ failover: [{ from: "r1", to: "r2" }] }),
          fc.constant({ failoverPriority: ["version", "tier=gold"], failover: [{ from: "r2", to: "r1" }] }),
          fc.constant({ enabled: false }),
        ),
      }),
    ),
    connectionPool: fc.record(
      {
        tcp: fc.record({ maxConnections: limit, idleTimeout: duration, tcpKeepalive: fc.constant({}) }, optional),
        http: fc.record({ maxRetries: limit, maxConcurrentStreams: limit, useClientProtocol: fc.boolean() }, optional),
      },
      optional,
    ),
    outlierDetection: fc.record({ consecutive5xxErrors: limit, minHealthPercent: limit }, optional),
    tls: fc.record({
      mode: fc.constantFrom("DISABLE", "SIMPLE", "MUTUAL", "ISTIO_MUTUAL"),
      sni: fc.constantFrom("", "s.example"),
      insecureSkipVerify: fc.boolean(),
    }),
  },
  optional,
);

const policy: fc.Arbitrary<TrafficPolicy> = fc
  .tuple(level, fc.option(level, { nil: undefined }))
  .map(([own, byPort]) =>
    byPort === undefined ? own : { ...own, portLevelSettings: [{ port: { number: 80 }, ...byPort }] },
  );

const endpoints: fc.Arbitrary<readonly Endpoint[]> = fc.array(
  fc
    .record({
      last: fc.nat({ max: 200 }),
      at: localities,
      network: fc.constantFrom("", "n1", "n2"),
      tlsMode: fc.constantFrom("istio", "disabled"),
      health: fc.constantFrom("Healthy", "Unhealthy", "Draining", "Terminating"),
      version: fc.constantFrom("v1", "v2"),
      weight: limit,
    })
    .map(({ last, at, version, ...rest }) => endpoint(`10.0.0.${last}`, { at, labels: { version }, ...rest })),
  { maxLength: 6 },
);

const resolutions: readonly Resolution[] = [
  "ClientSideLB",
  "DNSLB",
  "DNSRoundRobinLB",
  "DynamicDNS",
  "Passthrough",
  "Alias",
];
const protocols: readonly Protocol[] = ["HTTP", "GRPC", "TCP", "TLS", "UDP", "Unsupported"];

const mesh: fc.Arbitrary<Parts> = fc
  .record({
    services: fc.array(
      fc.record({
        resolution: fc.constantFrom(...resolutions),
        protocol: fc.constantFrom(...protocols),
        meshExternal: fc.boolean(),
        distribution: fc.constantFrom("Any", "PreferSameZone"),
        policy: fc.option(policy, { nil: undefined }),
        subset: fc.option(policy, { nil: undefined }),
        endpoints,
      }),
      { minLength: 1, maxLength: 4 },
    ),
    type: fc.constantFrom("sidecar", "router"),
    network: fc.constantFrom("", "n1"),
    locality: localities,
    gateway: fc.boolean(),
  })
  .map((made): Parts => {
    const services = made.services.map((parts, index) => {
      const { resolution, meshExternal, protocol, distribution } = parts;
      const ports = [port("http", 80, protocol), port("other", 81, "HTTP")];
      const attributes = { trafficDistribution: distribution } as const;
      return { ...parts, service: service(`s${index}`, { resolution, meshExternal, ports, attributes }) };
    });
    const ruled = services.flatMap((each) => {
      if (each.policy === undefined) return [];
      const subsets = [{ name: "v1", labels: { version: "v1" }, ...(each.subset && { trafficPolicy: each.subset }) }];
      const host = each.service.hostname;
      return [[host, rule({ host, trafficPolicy: each.policy, subsets })] as const];
    });
    return {
      services: services.map((each) => each.service),
      endpoints: Object.fromEntries(services.map((each) => [each.service.hostname, each.endpoints])),
      rules: Object.fromEntries(ruled),
      proxy: { type: made.type },
      perspective: { network: made.network, locality: made.locality },
      gateways: made.gateway ? [{ network: "n2", clusterId: "two", address: "203.0.113.1", port: 15443 }] : [],
    };
  });

describe("clusters and load assignments of any mesh", () => {
  it("have unique names in order, and every EDS cluster has its answer", () => {
    fc.assert(
      fc.property(mesh, (parts) => {
        const view = clusterView(parts);
        const made = clustersOf(view, noMemo);
        const clusters = wholeList(made);
        const names = clusters.map((cluster) => cluster.name);
        expect(names).toEqual([...new Set(names)].sort());
        const answers = wholeList(generateEndpoints(view.outbound.endpoints, made, noMemo)).map(
          (assignment) => assignment.name,
        );
        expect(answers).toEqual(clusters.filter(({ json }) => json.type === "EDS").map(({ name }) => name));
      }),
    );
  });

  it("are the same with a memo, at first and again", () => {
    const memo = createMemo();
    fc.assert(
      fc.property(mesh, (parts) => {
        const view = clusterView(parts);
        const plain = clustersOf(view, noMemo);
        const plainEndpoints = generateEndpoints(view.outbound.endpoints, plain, noMemo);
        for (let run = 0; run < 2; run += 1) {
          const clusters = clustersOf(view, memo);
          expect(clusters).toEqual(plain);
          expect(generateEndpoints(view.outbound.endpoints, clusters, memo)).toEqual(plainEndpoints);
        }
      }),
    );
  });

  it("do not depend on the order of services", () => {
    fc.assert(
      fc.property(mesh, (parts) => {
        const turned = { ...parts, services: [...(parts.services ?? [])].reverse() };
        expect(clustersOf(clusterView(turned), noMemo)).toEqual(clustersOf(clusterView(parts), noMemo));
      }),
    );
  });

  it("number priorities from 0 without gaps", () => {
    fc.assert(
      fc.property(mesh, (parts) => {
        const view = clusterView(parts);
        for (const { json } of wholeList(
          generateEndpoints(view.outbound.endpoints, clustersOf(view, noMemo), noMemo),
        )) {
          const priorities = new Set((json.endpoints ?? []).map((group) => group.priority ?? 0));
          expect([...priorities].sort((a, b) => a - b)).toEqual([...priorities].map((_, index) => index));
        }
      }),
    );
  });
});
