import { z } from "zod";
import type { ProxyConfig } from "../kinds/mesh-proxy-config.ts";
import { clientTls, tcpKeepalive } from "./destination-rule.ts";
import { message } from "./message.ts";
import { anyDuration, double, emptyMessage, flag, int32, int64, stringMap, text, texts, uint32 } from "./scalars.ts";
import { readinessProbe } from "./service-entry.ts";
import { literalTag, namedTag } from "./telemetry.ts";

const forwardClientCertDetails = z.enum([
  "UNDEFINED",
  "SANITIZE",
  "FORWARD_ONLY",
  "APPEND_FORWARD",
  "SANITIZE_SET",
  "ALWAYS_FORWARD_ONLY",
]);

const remoteService = message({ plain: { address: text }, kept: { tlsSettings: clientTls, tcpKeepalive } });
const address = message({ plain: { address: text } });
const keyProvider = message({ kept: { pollDelay: anyDuration, fallback: flag } });
const disabled = message({ kept: { disabled: flag } });
const enabled = message({ kept: { enabled: flag } });

const tracing = message({
  plain: {
    customTags: z.record(text, message({ kept: { literal: literalTag, environment: namedTag, header: namedTag } })),
    maxPathTagLength: uint32,
    sampling: double,
  },
  kept: {
    zipkin: address,
    lightstep: message({ plain: { address: text, accessToken: text } }),
    datadog: address,
    stackdriver: message({
      plain: { debug: flag },
      kept: { maxNumberOfAttributes: int64, maxNumberOfAnnotations: int64, maxNumberOfMessageEvents: int64 },
    }),
    openCensusAgent: message({ plain: { address: text, context: texts } }),
    tlsSettings: clientTls,
    enableIstioTags: flag,
  },
});

const proxyHeaders = message({
  plain: { forwardedClientCert: forwardClientCertDetails },
  kept: {
    setCurrentClientCertDetails: message({ kept: { subject: flag, cert: flag, chain: flag, dns: flag, uri: flag } }),
    requestId: disabled,
    server: message({ plain: { value: text }, kept: { disabled: flag } }),
    attemptCount: disabled,
    envoyDebugHeaders: disabled,
    metadataExchangeHeaders: message({ plain: { mode: z.enum(["UNDEFINED", "IN_MESH"]) } }),
    preserveHttp1HeaderCase: flag,
    xForwardedHost: enabled,
    xForwardedPort: enabled,
  },
});

const connectionSettings = message({
  plain: {
    profile: z.enum(["SIDECAR", "EDGE"]),
    httpHeadersWithUnderscoresAction: z.enum([
      "HEADERS_WITH_UNDERSCORES_UNSPECIFIED",
      "HEADERS_WITH_UNDERSCORES_ALLOW",
      "HEADERS_WITH_UNDERSCORES_REJECT_REQUEST",
      "HEADERS_WITH_UNDERSCORES_DROP_HEADER",
    ]),
    httpPathWithEscapedSlashesAction: z.enum([
      "PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED",
      "KEEP_UNCHANGED",
      "REJECT_REQUEST",
      "UNESCAPE_AND_REDIRECT",
      "UNESCAPE_AND_FORWARD",
    ]),
  },
  kept: {
    listenerPerConnectionBufferLimitBytes: int32,
    clusterPerConnectionBufferLimitBytes: int32,
    httpIdleTimeout: anyDuration,
    httpMaxConnectionDuration: anyDuration,
    httpDrainTimeout: anyDuration,
    httpRequestTimeout: anyDuration,
    httpRequestHeadersTimeout: anyDuration,
    httpStreamIdleTimeout: anyDuration,
    httpMaxStreamDuration: anyDuration,
    httpMaxConcurrentStreams: int32,
    http2InitialStreamWindowSize: int32,
    http2InitialConnectionWindowSize: int32,
    httpMergeSlashes: flag,
    listenerConnectionLimit: int32,
    globalDownstreamConnectionLimit: int32,
  },
});

/** Any part of a ProxyConfig: the mesh's, an annotation's, or the one in a node's metadata. */
export const proxyConfig: z.ZodType<Partial<ProxyConfig>> = message({
  kept: {
    configPath: text,
    binaryPath: text,
    serviceCluster: text,
    tracingServiceName: z.enum(["APP_LABEL_AND_NAMESPACE", "CANONICAL_NAME_ONLY", "CANONICAL_NAME_AND_NAMESPACE"]),
    drainDuration: anyDuration,
    terminationDrainDuration: anyDuration,
    discoveryAddress: text,
    statsdUdpAddress: text,
    proxyAdminPort: int32,
    controlPlaneAuthPolicy: z.enum(["NONE", "MUTUAL_TLS", "INHERIT"]),
    customConfigFile: text,
    statNameLength: int32,
    concurrency: int32,
    proxyBootstrapTemplatePath: text,
    interceptionMode: z.enum(["REDIRECT", "TPROXY", "NONE"]),
    tracing,
    envoyAccessLogService: remoteService,
    envoyMetricsService: remoteService,
    proxyMetadata: stringMap,
    runtimeValues: stringMap,
    statusPort: int32,
    extraStatTags: texts,
    gatewayTopology: message({
      plain: { numTrustedProxies: uint32, forwardClientCertDetails },
      kept: { proxyProtocol: emptyMessage },
    }),
    meshId: text,
    readinessProbe,
    proxyStatsMatcher: message({
      plain: { inclusionPrefixes: texts, inclusionSuffixes: texts, inclusionRegexps: texts },
    }),
    holdApplicationUntilProxyStarts: flag,
    caCertificatesPem: texts,
    image: message({ plain: { imageType: text } }),
    privateKeyProvider: message({ kept: { cryptomb: keyProvider, qat: keyProvider } }),
    proxyHeaders,
    fileFlushInterval: anyDuration,
    fileFlushMinSizeKb: uint32,
    statsCompression: flag,
    connectionSettings,
    zipkinAddress: text,
    discoveryRefreshDelay: anyDuration,
    availabilityZone: text,
    envoyMetricsServiceAddress: text,
  },
});
