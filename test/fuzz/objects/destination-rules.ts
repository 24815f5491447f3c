import type { Dice } from "./dice.ts";
import {
  duration,
  exportTo,
  labels,
  type Manifest,
  manifest,
  namespaces,
  ports,
  ruleHost,
  subsetNames,
  tlsFiles,
} from "./vocabulary.ts";

export function randomDestinationRule(dice: Dice, name: string): Manifest {
  return manifest(dice, ["networking.istio.io/v1", "DestinationRule"], [dice.pick(namespaces), name], {
    spec: {
      host: ruleHost(dice),
      ...dice.maybe(80, () => ({ trafficPolicy: trafficPolicy(dice) })),
      ...dice.maybe(50, () => ({
        subsets: dice.some(subsetNames, 1, 2).map((version) => ({
          name: version,
          labels: { version },
          ...dice.maybe(40, () => ({ trafficPolicy: trafficPolicy(dice) })),
        })),
      })),
      ...exportTo(dice),
      ...dice.maybe(10, () => ({ workloadSelector: { matchLabels: labels(dice) } })),
    },
  });
}

function portPolicy(dice: Dice): object {
  return {
    ...dice.maybe(40, () => ({ loadBalancer: loadBalancer(dice) })),
    ...dice.maybe(40, () => ({ connectionPool: randomConnectionPool(dice) })),
    ...dice.maybe(35, () => ({ outlierDetection: outlierDetection(dice) })),
    ...dice.maybe(35, () => ({ tls: randomClientTls(dice) })),
  };
}

function trafficPolicy(dice: Dice): object {
  return {
    ...portPolicy(dice),
    ...dice.maybe(25, () => ({
      portLevelSettings: dice.some(ports, 1, 2).map((number) => ({ port: { number }, ...portPolicy(dice) })),
    })),
    ...dice.maybe(8, () => ({
      tunnel: { protocol: dice.pick(["CONNECT", "POST"]), targetHost: "t.example.com", targetPort: 443 },
    })),
    ...dice.maybe(10, () => ({ proxyProtocol: { version: dice.pick(["V1", "V2"]) } })),
    ...dice.maybe(15, () => ({ retryBudget: { percent: 25, ...dice.maybe(50, () => ({ minRetryConcurrency: 5 })) } })),
  };
}

function loadBalancer(dice: Dice): object {
  const algorithm = dice.chance(60)
    ? { simple: dice.pick(["UNSPECIFIED", "LEAST_CONN", "RANDOM", "PASSTHROUGH", "ROUND_ROBIN", "LEAST_REQUEST"]) }
    : { consistentHash: consistentHash(dice) };
  return {
    ...algorithm,
    ...dice.maybe(35, () => ({ localityLbSetting: randomLocalitySetting(dice) })),
    ...dice.maybe(20, () =>
      dice.pick([{ warmupDurationSecs: "60s" }, { warmup: { duration: "30s", minimumPercent: 10, aggression: 1.5 } }]),
    ),
  };
}

const consistentHash = (dice: Dice): object => ({
  ...dice.pick([
    { httpHeaderName: "x-user" },
    { httpCookie: { name: "user", ttl: "60s", path: "/" } },
    { httpCookie: { name: "session", attributes: [{ name: "SameSite", value: "Lax" }] } },
    { useSourceIp: true },
    { httpQueryParameterName: "user" },
  ]),
  ...dice.maybe(50, () =>
    dice.pick([{ ringHash: { minimumRingSize: 2048 } }, { maglev: { tableSize: 65537 } }, { minimumRingSize: 100 }]),
  ),
});

export const randomLocalitySetting = (dice: Dice): object => ({
  ...dice.maybe(30, () => ({ enabled: dice.chance(60) })),
  ...dice.pick([
    {},
    { distribute: [{ from: "r1/z1/*", to: { "r1/z1/*": 80, "r2/*": 20 } }] },
    { distribute: [{ from: "*", to: { "*": 100 } }] },
    { failover: [{ from: "r1", to: "r2" }] },
    { failoverPriority: ["topology.kubernetes.io/region", "topology.istio.io/network"] },
    { failoverPriority: ["version=v1", "app"] },
  ]),
});

export const randomConnectionPool = (dice: Dice): object => ({
  ...dice.maybe(60, () => ({
    tcp: {
      ...dice.maybe(60, () => ({ maxConnections: 1 + dice.int(100) })),
      ...dice.maybe(40, () => ({ connectTimeout: duration(dice) })),
      ...dice.maybe(30, () => ({ tcpKeepalive: { probes: 3, time: "60s", interval: "10s" } })),
      ...dice.maybe(20, () => ({ maxConnectionDuration: "1h" })),
      ...dice.maybe(20, () => ({ idleTimeout: dice.pick(["0s", "1h"]) })),
    },
  })),
  ...dice.maybe(60, () => ({
    http: {
      ...dice.maybe(40, () => ({ http1MaxPendingRequests: 10 })),
      ...dice.maybe(40, () => ({ http2MaxRequests: 100 })),
      ...dice.maybe(40, () => ({ maxRequestsPerConnection: dice.int(10) })),
      ...dice.maybe(30, () => ({ maxRetries: 3 })),
      ...dice.maybe(30, () => ({ idleTimeout: duration(dice) })),
      ...dice.maybe(40, () =>
        dice.pick([{ h2UpgradePolicy: "UPGRADE" }, { h2UpgradePolicy: "DO_NOT_UPGRADE" }, { useClientProtocol: true }]),
      ),
      ...dice.maybe(20, () => ({ maxConcurrentStreams: 50 })),
    },
  })),
});

const outlierDetection = (dice: Dice): object => ({
  ...dice.maybe(20, () => ({ consecutiveErrors: 4 })),
  ...dice.maybe(30, () => ({ consecutiveGatewayErrors: dice.int(5) })),
  ...dice.maybe(50, () => ({ consecutive5xxErrors: dice.int(7) })),
  ...dice.maybe(30, () => ({ splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: dice.int(5) })),
  ...dice.maybe(40, () => ({ interval: duration(dice) })),
  ...dice.maybe(40, () => ({ baseEjectionTime: duration(dice) })),
  ...dice.maybe(30, () => ({ maxEjectionPercent: dice.int(101) })),
  ...dice.maybe(30, () => ({ minHealthPercent: dice.int(101) })),
});

export function randomClientTls(dice: Dice): object {
  const verify = {
    ...dice.maybe(30, () => ({ sni: "sni.example.com" })),
    ...dice.maybe(30, () => ({ subjectAltNames: ["spiffe://x/y", "api.example.com"] })),
    ...dice.maybe(15, () => ({ insecureSkipVerify: dice.chance(50) })),
  };
  const { caCertificates } = tlsFiles;
  return dice.pick([
    { mode: "DISABLE" },
    { mode: "ISTIO_MUTUAL" },
    { mode: "ISTIO_MUTUAL", ...verify },
    { mode: "SIMPLE", ...verify },
    { mode: "SIMPLE", caCertificates, ...verify },
    { mode: "SIMPLE", credentialName: "client-ca", ...verify },
    { mode: "MUTUAL", ...tlsFiles, ...verify },
    { mode: "MUTUAL", credentialName: "client-pair", ...verify },
  ]);
}
