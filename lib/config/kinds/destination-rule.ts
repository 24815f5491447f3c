import type { WorkloadSelector } from "./selector.ts";
import type { PortSelector } from "./virtual-service.ts";

/** `networking.istio.io` DestinationRule. @see https://istio.io/latest/docs/reference/config/networking/destination-rule/ */
export interface DestinationRule {
  readonly host: string;
  readonly trafficPolicy?: TrafficPolicy;
  readonly subsets?: readonly Subset[];
  /** Absent: the mesh's `defaultDestinationRuleExportTo`. */
  readonly exportTo?: readonly string[];
  readonly workloadSelector?: WorkloadSelector;
}

export interface Subset {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly trafficPolicy?: TrafficPolicy;
}

export interface TrafficPolicy {
  readonly loadBalancer?: LoadBalancerSettings;
  readonly connectionPool?: ConnectionPoolSettings;
  readonly outlierDetection?: OutlierDetection;
  readonly tls?: ClientTLSSettings;
  readonly portLevelSettings?: readonly PortTrafficPolicy[];
  readonly tunnel?: TunnelSettings;
  readonly proxyProtocol?: ProxyProtocol;
  readonly retryBudget?: RetryBudget;
}

/** Replaces the whole policy of its level for one port. */
export interface PortTrafficPolicy {
  readonly port: PortSelector;
  readonly loadBalancer?: LoadBalancerSettings;
  readonly connectionPool?: ConnectionPoolSettings;
  readonly outlierDetection?: OutlierDetection;
  readonly tls?: ClientTLSSettings;
}

export type SimpleLB = "UNSPECIFIED" | "LEAST_CONN" | "RANDOM" | "PASSTHROUGH" | "ROUND_ROBIN" | "LEAST_REQUEST";

/** At most one of `simple`, `consistentHash` and `backendUtilization`. */
export interface LoadBalancerSettings {
  readonly simple?: SimpleLB;
  readonly consistentHash?: ConsistentHashLB;
  readonly backendUtilization?: BackendUtilizationLB;
  readonly localityLbSetting?: LocalityLoadBalancerSetting;
  readonly zoneAwareLbSetting?: ZoneAwareLoadBalancerSetting;
  /** Deprecated spelling of `warmup.duration`. */
  readonly warmupDurationSecs?: string;
  readonly warmup?: WarmupConfiguration;
}

/** One key of four, one algorithm of two. */
export interface ConsistentHashLB {
  readonly httpHeaderName?: string;
  readonly httpCookie?: HTTPCookie;
  readonly useSourceIp?: boolean;
  readonly httpQueryParameterName?: string;
  readonly ringHash?: RingHash;
  readonly maglev?: MagLev;
  /** Deprecated spelling of `ringHash.minimumRingSize`. */
  readonly minimumRingSize?: number;
}

export interface HTTPCookie {
  readonly name: string;
  readonly path?: string;
  readonly ttl?: string;
  readonly attributes?: readonly HTTPCookieAttribute[];
}

export interface HTTPCookieAttribute {
  readonly name: string;
  readonly value?: string;
}

/** Weights of endpoints by what they report of their load (ORCA); 1.32. */
export interface BackendUtilizationLB {
  /** Absent: 10s. */
  readonly weightStabilizationPeriod?: string;
  /** Absent: 3m. */
  readonly weightExpirationPeriod?: string;
  /** Absent: 1s; at least 100ms. */
  readonly weightUpdatePeriod?: string;
  /** Absent: 0, errors do not count. */
  readonly errorUtilizationPenaltyPercent?: number;
  readonly metricNamesForComputingUtilization?: readonly string[];
}

export interface RingHash {
  readonly minimumRingSize?: number;
}

export interface MagLev {
  readonly tableSize?: number;
}

export interface WarmupConfiguration {
  readonly duration: string;
  /** Wrapper: 0 is not absent. */
  readonly minimumPercent?: number;
  /** Wrapper. */
  readonly aggression?: number;
}

/** `distribute` and `failover` exclude each other. */
export interface LocalityLoadBalancerSetting {
  readonly distribute?: readonly LocalityDistribute[];
  readonly failover?: readonly LocalityFailover[];
  readonly failoverPriority?: readonly string[];
  /** Wrapper: false is not absent. */
  readonly enabled?: boolean;
}

export interface LocalityDistribute {
  readonly from?: string;
  /** Locality pattern → percent; adds up to 100. */
  readonly to?: Readonly<Record<string, number>>;
}

export interface LocalityFailover {
  readonly from?: string;
  readonly to?: string;
}

/** Since Istio 1.31. */
export interface ZoneAwareLoadBalancerSetting {
  readonly enabled?: boolean;
  readonly failover?: readonly LocalityFailover[];
  readonly failoverPriority?: readonly string[];
  readonly minClusterSize?: number;
}

export interface ConnectionPoolSettings {
  readonly tcp?: TCPSettings;
  readonly http?: HTTPSettings;
}

export interface TCPSettings {
  readonly maxConnections?: number;
  readonly connectTimeout?: string;
  readonly tcpKeepalive?: TcpKeepalive;
  readonly maxConnectionDuration?: string;
  /** `0s` switches it off. */
  readonly idleTimeout?: string;
}

export interface TcpKeepalive {
  readonly probes?: number;
  readonly time?: string;
  readonly interval?: string;
}

export interface HTTPSettings {
  readonly http1MaxPendingRequests?: number;
  readonly http2MaxRequests?: number;
  readonly maxRequestsPerConnection?: number;
  readonly maxRetries?: number;
  readonly idleTimeout?: string;
  /** Absent: DEFAULT, the mesh decides. */
  readonly h2UpgradePolicy?: "DEFAULT" | "DO_NOT_UPGRADE" | "UPGRADE";
  readonly useClientProtocol?: boolean;
  readonly maxConcurrentStreams?: number;
  readonly http2KeepAlive?: Http2KeepAlive;
}

/** Since Istio 1.31. */
export interface Http2KeepAlive {
  readonly interval?: string;
  readonly timeout?: string;
}

export interface OutlierDetection {
  /** Deprecated. */
  readonly consecutiveErrors?: number;
  readonly splitExternalLocalOriginErrors?: boolean;
  /** Wrapper, as the next two: 0 is not absent. */
  readonly consecutiveLocalOriginFailures?: number;
  readonly consecutiveGatewayErrors?: number;
  readonly consecutive5xxErrors?: number;
  readonly interval?: string;
  readonly baseEjectionTime?: string;
  readonly maxEjectionPercent?: number;
  readonly minHealthPercent?: number;
  /** Status codes that count as errors, instead of 5xx (1.32). */
  readonly outlierDetectionHttpErrorCodes?: readonly number[];
  /** Wrapper. Percent of failures in an interval from which a host is ejected; absent: never for this reason (1.32). */
  readonly failurePercentageThreshold?: number;
}

/** Client side of TLS. Absent mode: DISABLE. */
export interface ClientTLSSettings {
  readonly mode?: "DISABLE" | "SIMPLE" | "MUTUAL" | "ISTIO_MUTUAL";
  readonly clientCertificate?: string;
  readonly privateKey?: string;
  readonly caCertificates?: string;
  readonly caCrl?: string;
  readonly credentialName?: string;
  /** Secret or ConfigMap of the authorities alone (1.32). */
  readonly caCertCredentialName?: string;
  readonly subjectAltNames?: readonly string[];
  readonly sni?: string;
  /** Wrapper: false is not absent. */
  readonly insecureSkipVerify?: boolean;
}

export interface TunnelSettings {
  /** Absent: CONNECT. */
  readonly protocol?: string;
  readonly targetHost: string;
  readonly targetPort: number;
}

export interface ProxyProtocol {
  /** Absent: V1. */
  readonly version?: "V1" | "V2";
}

export interface RetryBudget {
  /** Wrapper; absent: 20. */
  readonly percent?: number;
  readonly minRetryConcurrency?: number;
  /** Since Istio 1.31. */
  readonly budgetInterval?: string;
}
