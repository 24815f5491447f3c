import { z } from "zod";
import type { WrittenMeshConfig } from "../kinds/mesh-config.ts";
import type { MeshNetworks } from "../kinds/mesh-networks.ts";
import {
  clientTls,
  connectionPool,
  localityLbSetting,
  outlierDetection,
  tcpKeepalive,
  zoneAwareLbSetting,
} from "./destination-rule.ts";
import { extensionProvider } from "./extension-provider.ts";
import { proxyConfig } from "./mesh-proxy-config.ts";
import { message } from "./message.ts";
import { anyDuration, flag, int32, text, texts, uint32 } from "./scalars.ts";
import { labelSelector } from "./selector.ts";
import { httpRetry } from "./virtual-service.ts";

const tlsConfig = message({
  plain: { minProtocolVersion: z.enum(["TLS_AUTO", "TLSV1_2", "TLSV1_3"]), ecdhCurves: texts, cipherSuites: texts },
});

const entryVisibility = z.enum(["UNSPECIFIED", "PUBLIC", "NAMESPACE", "NONE"]);

/**
 * What may be written of a MeshConfig: any part of it, laid over the defaults. Every field keeps its zero value, because
 * a written zero replaces a default.
 */
export const meshConfig: z.ZodType<WrittenMeshConfig> = message({
  kept: {
    proxyListenPort: int32,
    proxyInboundListenPort: int32,
    proxyHttpPort: int32,
    connectTimeout: anyDuration,
    hboneIdleTimeout: anyDuration,
    protocolDetectionTimeout: anyDuration,
    tcpKeepalive,
    ingressClass: text,
    ingressService: text,
    ingressControllerMode: z.enum(["UNSPECIFIED", "OFF", "DEFAULT", "STRICT"]),
    ingressSelector: text,
    enableTracing: flag,
    accessLogFile: text,
    accessLogFormat: text,
    accessLogEncoding: z.enum(["TEXT", "JSON"]),
    enableEnvoyAccessLogService: flag,
    disableEnvoyListenerLog: flag,
    defaultConfig: proxyConfig,
    outboundTrafficPolicy: message({
      required: { mode: z.enum(["REGISTRY_ONLY", "ALLOW_ANY", "ALLOW_ANY_DYNAMIC_DNS"]).default("REGISTRY_ONLY") },
      kept: { tls: clientTls },
    }),
    inboundTrafficPolicy: message({ plain: { mode: z.enum(["PASSTHROUGH", "LOCALHOST"]) } }),
    configSources: message({
      plain: { address: text, subscribedResources: texts },
      kept: { tlsSettings: clientTls },
    }).array(),
    enableAutoMtls: flag,
    trustDomain: text,
    trustDomainAliases: texts,
    caCertificates: message({
      plain: { certSigners: texts, trustDomains: texts },
      kept: { pem: text, spiffeBundleUrl: text },
    }).array(),
    defaultServiceExportTo: texts,
    defaultVirtualServiceExportTo: texts,
    defaultDestinationRuleExportTo: texts,
    rootNamespace: text,
    localityLbSetting,
    zoneAwareLbSetting,
    dnsRefreshRate: anyDuration,
    h2UpgradePolicy: z.enum(["DO_NOT_UPGRADE", "UPGRADE"]),
    inboundClusterStatName: text,
    outboundClusterStatName: text,
    serviceSettings: message({
      plain: { hosts: texts },
      kept: { settings: message({ plain: { clusterLocal: flag } }) },
    }).array(),
    serviceScopeConfigs: message({
      plain: { scope: z.enum(["LOCAL", "GLOBAL"]) },
      kept: { namespaceSelector: labelSelector, servicesSelector: labelSelector },
    }).array(),
    enablePrometheusMerge: flag,
    ca: message({
      plain: { address: text, istiodSide: flag },
      kept: { tlsSettings: clientTls, requestTimeout: anyDuration },
    }),
    extensionProviders: extensionProvider.array(),
    defaultProviders: message({ kept: { tracing: texts, metrics: texts, accessLogging: texts } }),
    discoverySelectors: labelSelector.array(),
    pathNormalization: message({
      plain: { normalization: z.enum(["DEFAULT", "NONE", "BASE", "MERGE_SLASHES", "DECODE_AND_MERGE_SLASHES"]) },
    }),
    defaultHttpRetryPolicy: httpRetry,
    defaultInboundHttpRetryPolicy: httpRetry,
    meshMTLS: tlsConfig,
    tlsDefaults: tlsConfig,
    defaultTrafficPolicy: message({ kept: { connectionPool, outlierDetection } }),
    serviceEntryVisibility: message({
      plain: {
        defaultVisibility: entryVisibility,
        applyToSidecars: flag,
        policies: message({
          plain: {
            visibility: entryVisibility,
            matchingRules: message({ kept: { namespaceSelector: labelSelector } }).array(),
          },
        }).array(),
      },
    }),
    mixerAddress: text,
    mixerCheckServer: text,
    mixerReportServer: text,
    disablePolicyChecks: flag,
    authPolicy: z.enum(["NONE", "MUTUAL_TLS"]),
    rdsRefreshDelay: anyDuration,
    mtlsExcludedServices: texts,
  },
});

export const meshNetworks: z.ZodType<MeshNetworks> = message({
  required: {
    networks: z
      .record(
        text,
        message({
          required: {
            endpoints: message({ kept: { fromCidr: text, fromRegistry: text } })
              .array()
              .default([]),
            gateways: message({
              required: { port: uint32.default(0) },
              plain: { locality: text },
              kept: { registryServiceName: text, address: text },
            })
              .array()
              .default([]),
          },
        }),
      )
      .default({}),
  },
});
