import { z } from "zod";
import type { ExtensionProvider } from "../kinds/extension-provider.ts";
import { message } from "./message.ts";
import { anyDuration, emptyMessage, flag, int32, int64, stringMap, struct, text, texts, uint32 } from "./scalars.ts";

const service = { service: text.default(""), port: uint32.default(0) };

const httpHeaders = message({ required: { name: text.default("") }, kept: { value: text, envName: text } }).array();
const httpService = message({ plain: { path: text, headers: httpHeaders }, kept: { timeout: anyDuration } });
const logFormat = message({ kept: { text, labels: struct } });

const requestBody = message({ plain: { maxRequestBytes: uint32, allowPartialMessage: flag, packAsBytes: flag } });

const extAuthzHttp = message({
  required: service,
  plain: {
    pathPrefix: text,
    failOpen: flag,
    clearRouteCache: flag,
    statusOnError: text,
    includeHeadersInCheck: texts,
    includeRequestHeadersInCheck: texts,
    includeAdditionalHeadersInCheck: stringMap,
    headersToUpstreamOnAllow: texts,
    headersToDownstreamOnDeny: texts,
    headersToDownstreamOnAllow: texts,
  },
  kept: { timeout: anyDuration, includeRequestBodyInCheck: requestBody },
});

const opentelemetry = message({
  required: service,
  plain: {
    maxTagLength: uint32,
    serviceAttributeEnrichment: z.enum(["ISTIO_CANONICAL", "OTEL_SEMANTIC_CONVENTIONS"]),
  },
  kept: {
    http: httpService,
    grpc: message({ plain: { initialMetadata: httpHeaders }, kept: { timeout: anyDuration } }),
    resourceDetectors: message({ kept: { environment: emptyMessage, dynatrace: emptyMessage } }),
    dynatraceSampler: message({
      plain: { tenant: text, clusterId: int32, rootSpansPerMinute: uint32 },
      kept: { httpService: message({ required: service, kept: { http: httpService } }) },
    }),
  },
});

export const extensionProvider: z.ZodType<ExtensionProvider> = message({
  required: { name: text.default("") },
  kept: {
    envoyExtAuthzHttp: extAuthzHttp,
    envoyExtAuthzGrpc: message({
      required: service,
      plain: { failOpen: flag, clearRouteCache: flag, statusOnError: text },
      kept: { timeout: anyDuration, includeRequestBodyInCheck: requestBody },
    }),
    zipkin: message({
      required: service,
      plain: {
        maxTagLength: uint32,
        enable64bitTraceId: flag,
        path: text,
        traceContextOption: z.enum(["USE_B3", "USE_B3_WITH_W3C_PROPAGATION"]),
        headers: httpHeaders,
      },
      kept: { timeout: anyDuration },
    }),
    lightstep: message({ required: service, plain: { accessToken: text, maxTagLength: uint32 } }),
    datadog: message({ required: service, plain: { maxTagLength: uint32 } }),
    stackdriver: message({
      plain: { debug: flag, maxTagLength: uint32 },
      kept: {
        maxNumberOfAttributes: int64,
        maxNumberOfAnnotations: int64,
        maxNumberOfMessageEvents: int64,
        logging: message({ plain: { labels: stringMap } }),
      },
    }),
    opencensus: message({ required: service, plain: { context: texts, maxTagLength: uint32 } }),
    skywalking: message({ required: service, plain: { accessToken: text } }),
    opentelemetry,
    prometheus: emptyMessage,
    envoyFileAccessLog: message({ plain: { path: text, omitEmptyValues: flag }, kept: { logFormat } }),
    envoyHttpAls: message({
      required: service,
      plain: {
        logName: text,
        filterStateObjectsToLog: texts,
        additionalRequestHeadersToLog: texts,
        additionalResponseHeadersToLog: texts,
        additionalResponseTrailersToLog: texts,
      },
    }),
    envoyTcpAls: message({ required: service, plain: { logName: text, filterStateObjectsToLog: texts } }),
    envoyOtelAls: message({ required: service, plain: { logName: text }, kept: { logFormat } }),
    sds: message({ required: service, plain: { name: text } }),
  },
});
