import { z } from "zod";
import type {
  ClientTLSSettings,
  ConnectionPoolSettings,
  DestinationRule,
  LoadBalancerSettings,
  LocalityLoadBalancerSetting,
  OutlierDetection,
  TcpKeepalive,
  TrafficPolicy,
  ZoneAwareLoadBalancerSetting,
} from "../kinds/destination-rule.ts";
import { message } from "./message.ts";
import { anyDuration, double, duration, flag, int32, stringMap, text, texts, uint32, uint64 } from "./scalars.ts";
import { workloadSelector } from "./selector.ts";
import { portSelector } from "./virtual-service.ts";

export const tcpKeepalive: z.ZodType<TcpKeepalive> = message({
  plain: { probes: uint32 },
  kept: { time: duration, interval: duration },
});

export const connectionPool: z.ZodType<ConnectionPoolSettings> = message({
  kept: {
    tcp: message({
      plain: { maxConnections: int32 },
      kept: {
        connectTimeout: duration,
        tcpKeepalive,
        maxConnectionDuration: duration,
        // 0s switches the timeout off, so its range is a rule.
        idleTimeout: anyDuration,
      },
    }),
    http: message({
      plain: {
        http1MaxPendingRequests: int32,
        http2MaxRequests: int32,
        maxRequestsPerConnection: int32,
        maxRetries: int32,
        h2UpgradePolicy: z.enum(["DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"]),
        useClientProtocol: flag,
        maxConcurrentStreams: int32,
      },
      kept: {
        idleTimeout: duration,
        http2KeepAlive: message({ kept: { interval: duration, timeout: duration } }),
      },
    }),
  },
});

export const outlierDetection: z.ZodType<OutlierDetection> = message({
  plain: {
    consecutiveErrors: int32,
    splitExternalLocalOriginErrors: flag,
    maxEjectionPercent: int32,
    minHealthPercent: int32,
    outlierDetectionHttpErrorCodes: uint32.array(),
  },
  kept: {
    consecutiveLocalOriginFailures: uint32,
    consecutiveGatewayErrors: uint32,
    consecutive5xxErrors: uint32,
    interval: duration,
    baseEjectionTime: duration,
    failurePercentageThreshold: uint32,
  },
});

const failover = message({ plain: { from: text, to: text } }).array();

export const localityLbSetting: z.ZodType<LocalityLoadBalancerSetting> = message({
  plain: {
    distribute: message({ plain: { from: text, to: z.record(text, uint32) } }).array(),
    failover,
    failoverPriority: texts,
  },
  kept: { enabled: flag },
});

export const zoneAwareLbSetting: z.ZodType<ZoneAwareLoadBalancerSetting> = message({
  plain: { failover, failoverPriority: texts },
  kept: { enabled: flag, minClusterSize: uint32 },
});

const consistentHash = message({
  plain: { minimumRingSize: uint64 },
  kept: {
    httpHeaderName: text,
    httpCookie: message({
      required: { name: text.default("") },
      plain: {
        path: text,
        attributes: message({ required: { name: text.default("") }, plain: { value: text } }).array(),
      },
      kept: { ttl: anyDuration },
    }),
    useSourceIp: flag,
    httpQueryParameterName: text,
    ringHash: message({ plain: { minimumRingSize: uint64 } }),
    maglev: message({ plain: { tableSize: uint64 } }),
  },
});

const backendUtilization = message({
  plain: { errorUtilizationPenaltyPercent: uint32, metricNamesForComputingUtilization: texts },
  kept: {
    weightStabilizationPeriod: anyDuration,
    weightExpirationPeriod: anyDuration,
    weightUpdatePeriod: anyDuration,
  },
});

const loadBalancer: z.ZodType<LoadBalancerSettings> = message({
  kept: {
    simple: z.enum(["UNSPECIFIED", "LEAST_CONN", "RANDOM", "PASSTHROUGH", "ROUND_ROBIN", "LEAST_REQUEST"]),
    consistentHash,
    backendUtilization,
    localityLbSetting,
    zoneAwareLbSetting,
    warmupDurationSecs: duration,
    warmup: message({ required: { duration }, kept: { minimumPercent: double, aggression: double } }),
  },
});

export const clientTls: z.ZodType<ClientTLSSettings> = message({
  plain: {
    mode: z.enum(["DISABLE", "SIMPLE", "MUTUAL", "ISTIO_MUTUAL"]),
    clientCertificate: text,
    privateKey: text,
    caCertificates: text,
    caCrl: text,
    credentialName: text,
    caCertCredentialName: text,
    subjectAltNames: texts,
    sni: text,
  },
  kept: { insecureSkipVerify: flag },
});

const level = { loadBalancer, connectionPool, outlierDetection, tls: clientTls };

const trafficPolicy: z.ZodType<TrafficPolicy> = message({
  plain: { portLevelSettings: message({ required: { port: portSelector }, kept: level }).array() },
  kept: {
    ...level,
    tunnel: message({
      required: { targetHost: text.default(""), targetPort: uint32.default(0) },
      plain: { protocol: text },
    }),
    proxyProtocol: message({ plain: { version: z.enum(["V1", "V2"]) } }),
    retryBudget: message({
      plain: { minRetryConcurrency: uint32 },
      kept: { percent: double, budgetInterval: anyDuration },
    }),
  },
});

export const destinationRule: z.ZodType<DestinationRule> = message({
  required: { host: text.default("") },
  plain: {
    subsets: message({
      required: { name: text.default("") },
      plain: { labels: stringMap },
      kept: { trafficPolicy },
    }).array(),
    exportTo: texts,
  },
  kept: { trafficPolicy, workloadSelector },
});
