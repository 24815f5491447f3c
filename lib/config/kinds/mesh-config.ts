import type {
  ClientTLSSettings,
  ConnectionPoolSettings,
  LocalityLoadBalancerSetting,
  OutlierDetection,
  TcpKeepalive,
  ZoneAwareLoadBalancerSetting,
} from "./destination-rule.ts";
import type { ExtensionProvider } from "./extension-provider.ts";
import type { LegacyMeshSettings } from "./legacy/legacy-mesh-settings.ts";
import type { ProxyConfig } from "./mesh-proxy-config.ts";
import type { LabelSelector } from "./selector.ts";
import type { HTTPRetry } from "./virtual-service.ts";

export type { ExtensionProvider, ProxyConfig };

/**
 * Settings of the whole mesh with all defaults applied: a field is optional only where unset means something.
 * @see docs/how-istio-does-it/mesh-settings.md#defaults-of-meshconfig
 * @see docs/how-istio-does-it/mesh-settings.md#merging
 */
export interface MeshConfig extends LegacyMeshSettings {
  readonly proxyListenPort: number;
  readonly proxyInboundListenPort: number;
  /** 0: no explicit HTTP proxy listener. */
  readonly proxyHttpPort: number;
  readonly connectTimeout: string;
  readonly hboneIdleTimeout?: string;
  /** `0s`: wait for ever. */
  readonly protocolDetectionTimeout: string;
  readonly tcpKeepalive?: TcpKeepalive;
  readonly ingressClass: string;
  readonly ingressService: string;
  readonly ingressControllerMode: "UNSPECIFIED" | "OFF" | "DEFAULT" | "STRICT";
  /** "": the value of `ingressService`. */
  readonly ingressSelector: string;
  readonly enableTracing: boolean;
  /** "": none. */
  readonly accessLogFile: string;
  readonly accessLogFormat: string;
  readonly accessLogEncoding: "TEXT" | "JSON";
  readonly enableEnvoyAccessLogService: boolean;
  readonly disableEnvoyListenerLog: boolean;
  readonly defaultConfig: ProxyConfig;
  readonly outboundTrafficPolicy: MeshOutboundTrafficPolicy;
  readonly inboundTrafficPolicy?: { readonly mode?: "PASSTHROUGH" | "LOCALHOST" };
  readonly configSources: readonly ConfigSource[];
  readonly enableAutoMtls: boolean;
  readonly trustDomain: string;
  readonly trustDomainAliases: readonly string[];
  readonly caCertificates: readonly CertificateData[];
  readonly defaultServiceExportTo: readonly string[];
  readonly defaultVirtualServiceExportTo: readonly string[];
  readonly defaultDestinationRuleExportTo: readonly string[];
  readonly rootNamespace: string;
  readonly localityLbSetting: LocalityLoadBalancerSetting;
  /** Before `localityLbSetting`; since Istio 1.31. */
  readonly zoneAwareLbSetting?: ZoneAwareLoadBalancerSetting;
  readonly dnsRefreshRate: string;
  readonly h2UpgradePolicy: "DO_NOT_UPGRADE" | "UPGRADE";
  /** "": the cluster's own name. */
  readonly inboundClusterStatName: string;
  readonly outboundClusterStatName: string;
  readonly serviceSettings: readonly ServiceSettings[];
  readonly serviceScopeConfigs: readonly ServiceScopeConfigs[];
  readonly enablePrometheusMerge: boolean;
  readonly ca?: CertificateAuthority;
  readonly extensionProviders: readonly ExtensionProvider[];
  readonly defaultProviders: DefaultProviders;
  /** Empty: every namespace; else any of them. */
  readonly discoverySelectors: readonly LabelSelector[];
  readonly pathNormalization: { readonly normalization?: PathNormalization };
  /** Absent: Istio's built-in policy. */
  readonly defaultHttpRetryPolicy?: HTTPRetry;
  /** Of inbound routes; absent: Istio's built-in policy, without attempts: none (1.32). */
  readonly defaultInboundHttpRetryPolicy?: HTTPRetry;
  readonly meshMTLS?: TLSConfig;
  readonly tlsDefaults?: TLSConfig;
  /** Blocks for whoever states none; since Istio 1.31. */
  readonly defaultTrafficPolicy?: {
    readonly connectionPool?: ConnectionPoolSettings;
    readonly outlierDetection?: OutlierDetection;
  };
  /** A field of 1.31. */
  readonly serviceEntryVisibility?: ServiceEntryVisibility;
  /** What the operator wrote, without defaults: the v1 API has others. Absent: nothing. */
  readonly written?: WrittenMeshConfig;
}

/** Any part of a MeshConfig. */
export type WrittenMeshConfig = Partial<Omit<MeshConfig, "defaultConfig" | "written">> & {
  readonly defaultConfig?: Partial<ProxyConfig>;
};

export type PathNormalization = "DEFAULT" | "NONE" | "BASE" | "MERGE_SLASHES" | "DECODE_AND_MERGE_SLASHES";

export interface MeshOutboundTrafficPolicy {
  readonly mode: "REGISTRY_ONLY" | "ALLOW_ANY" | "ALLOW_ANY_DYNAMIC_DNS";
  /** ALLOW_ANY_DYNAMIC_DNS only. */
  readonly tls?: ClientTLSSettings;
}

export interface ConfigSource {
  readonly address?: string;
  readonly tlsSettings?: ClientTLSSettings;
  readonly subscribedResources?: readonly string[];
}

/** One of the first two. */
export interface CertificateData {
  readonly pem?: string;
  readonly spiffeBundleUrl?: string;
  readonly certSigners?: readonly string[];
  readonly trustDomains?: readonly string[];
}

export interface ServiceSettings {
  readonly settings?: { readonly clusterLocal?: boolean };
  /** Host names and wildcards. */
  readonly hosts?: readonly string[];
}

export interface ServiceScopeConfigs {
  readonly namespaceSelector?: LabelSelector;
  readonly servicesSelector?: LabelSelector;
  readonly scope?: "LOCAL" | "GLOBAL";
}

export interface CertificateAuthority {
  readonly address?: string;
  readonly tlsSettings?: ClientTLSSettings;
  readonly requestTimeout?: string;
  readonly istiodSide?: boolean;
}

/** How far services of ServiceEntries may be seen, beside their exportTo. */
export interface ServiceEntryVisibility {
  /** Absent: PUBLIC. */
  readonly defaultVisibility?: WrittenEntryVisibility;
  /** Absent or false: it concerns neither sidecars nor gateways. */
  readonly applyToSidecars?: boolean;
  /** The first whose rules all match counts. */
  readonly policies?: readonly ServiceEntryVisibilityPolicy[];
}

export interface ServiceEntryVisibilityPolicy {
  readonly visibility?: WrittenEntryVisibility;
  /** Absent or empty: every namespace. */
  readonly matchingRules?: readonly { readonly namespaceSelector?: LabelSelector }[];
}

/** PUBLIC: where it is exported to; NAMESPACE: of that only its own namespace; NONE: nowhere. */
export type EntryVisibility = "PUBLIC" | "NAMESPACE" | "NONE";

/** UNSPECIFIED is PUBLIC. */
type WrittenEntryVisibility = EntryVisibility | "UNSPECIFIED";

/** Names of extension providers. */
export interface DefaultProviders {
  readonly tracing?: readonly string[];
  readonly metrics?: readonly string[];
  readonly accessLogging?: readonly string[];
}

export interface TLSConfig {
  readonly minProtocolVersion?: "TLS_AUTO" | "TLSV1_2" | "TLSV1_3";
  readonly ecdhCurves?: readonly string[];
  readonly cipherSuites?: readonly string[];
}

/** Istio 1.30's `DefaultProxyConfig`. @see docs/how-istio-does-it/mesh-settings.md#proxyconfig */
export const defaultProxyConfig: ProxyConfig = {
  configPath: "./etc/istio/proxy",
  binaryPath: "/usr/local/bin/envoy",
  serviceCluster: "istio-proxy",
  drainDuration: "45s",
  terminationDrainDuration: "5s",
  proxyAdminPort: 15000,
  controlPlaneAuthPolicy: "MUTUAL_TLS",
  discoveryAddress: "istiod.istio-system.svc:15012",
  statNameLength: 189,
  statusPort: 15020,
  interceptionMode: "REDIRECT",
  proxyMetadata: {},
};

/** Istio 1.30's `DefaultMeshConfig`. @see docs/how-istio-does-it/mesh-settings.md#defaults-of-meshconfig */
export const defaultMeshConfig: MeshConfig = {
  proxyListenPort: 15001,
  proxyInboundListenPort: 15006,
  proxyHttpPort: 0,
  connectTimeout: "10s",
  protocolDetectionTimeout: "0s",
  ingressClass: "istio",
  ingressService: "istio-ingressgateway",
  ingressControllerMode: "STRICT",
  ingressSelector: "",
  enableTracing: true,
  accessLogFile: "",
  accessLogFormat: "",
  accessLogEncoding: "TEXT",
  enableEnvoyAccessLogService: false,
  disableEnvoyListenerLog: false,
  defaultConfig: defaultProxyConfig,
  outboundTrafficPolicy: { mode: "ALLOW_ANY" },
  configSources: [],
  enableAutoMtls: true,
  trustDomain: "cluster.local",
  trustDomainAliases: [],
  caCertificates: [],
  defaultServiceExportTo: ["*"],
  defaultVirtualServiceExportTo: ["*"],
  defaultDestinationRuleExportTo: ["*"],
  rootNamespace: "istio-system",
  localityLbSetting: { enabled: true },
  dnsRefreshRate: "60s",
  h2UpgradePolicy: "DO_NOT_UPGRADE",
  inboundClusterStatName: "",
  outboundClusterStatName: "",
  serviceSettings: [],
  serviceScopeConfigs: [],
  enablePrometheusMerge: true,
  extensionProviders: [
    { name: "prometheus", prometheus: {} },
    { name: "stackdriver", stackdriver: {} },
    { name: "envoy", envoyFileAccessLog: { path: "/dev/stdout" } },
  ],
  defaultProviders: {},
  discoverySelectors: [],
  pathNormalization: {},
};
