import type { HeaderValueJson, HeaderValueOptionJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { TypedExtensionConfigJson } from "../../../gen/envoy/config/core/v3/extension_pb.ts";
import type { HttpServiceJson } from "../../../gen/envoy/config/core/v3/http_service_pb.ts";
import type { DatadogConfigJson } from "../../../gen/envoy/config/trace/v3/datadog_pb.ts";
import type { Tracing_HttpJson } from "../../../gen/envoy/config/trace/v3/http_tracer_pb.ts";
import type { OpenTelemetryConfigJson } from "../../../gen/envoy/config/trace/v3/opentelemetry_pb.ts";
import type { SkyWalkingConfigJson } from "../../../gen/envoy/config/trace/v3/skywalking_pb.ts";
import type { ZipkinConfigJson } from "../../../gen/envoy/config/trace/v3/zipkin_pb.ts";
import type { ExtensionProvider, HttpHeader, HttpService } from "../../config/kinds/extension-provider.ts";
import type { OutboundListenerView } from "../../mesh/views/views.ts";
import { packAny } from "../core-messages.ts";
import { istioVersionAtLeast } from "../istio-version.ts";
import {
  type ProviderCluster,
  type ProviderLookups,
  providerCluster,
  providerGrpcService,
  type ScopedProviders,
} from "./provider-cluster.ts";

/** A tracer as a connection manager takes it. */
export interface Tracer {
  readonly provider: Tracing_HttpJson;
  /** 0: Envoy's default. */
  readonly maxPathTagLength: number;
  /** The tracer starts a span of its own for the upstream request, whatever the proxy is. */
  readonly spawnsUpstreamSpan: boolean;
  /** The provider samples: everything must reach it. */
  readonly samplesItself: boolean;
}

/** Newer Envoys reach Zipkin by an HTTP service and not by a bare cluster. */
type ZipkinServiceConfigJson = ZipkinConfigJson & { readonly collectorService?: HttpServiceJson };

/** What tracing says about the proxy. */
export type TracingProxy = Pick<OutboundListenerView, "tracing" | "proxy">;

/**
 * The tracer of an extension provider; undefined for providers that do not trace and services that nobody knows, or that
 * the proxy does not see where the tracer insists on it.
 * @see istio 1.30.3 pilot/pkg/networking/core/tracing.go, configureFromProviderConfig
 */
export function tracerOf(
  provider: ExtensionProvider,
  view: TracingProxy,
  lookups: ScopedProviders,
): Tracer | undefined {
  const { zipkin, datadog, skywalking, opentelemetry } = provider;
  if (zipkin !== undefined) {
    const target = providerCluster(lookups, zipkin);
    if (target === undefined || !lookups.isInScope(target.hostname, zipkin.port)) return undefined;
    return tracer("envoy.tracers.zipkin", "envoy.config.trace.v3.ZipkinConfig", zipkinConfig(view, zipkin, target), {
      maxPathTagLength: zipkin.maxTagLength ?? 0,
    });
  }
  if (datadog !== undefined) {
    const target = providerCluster(lookups, datadog);
    if (target === undefined || !lookups.isInScope(target.hostname, datadog.port)) return undefined;
    const config: DatadogConfigJson = {
      collectorCluster: target.cluster,
      collectorHostname: target.hostname,
      // Envoy insists on a name here: a node without one has its default.
      serviceName: view.tracing.nodeCluster || (view.proxy.proxyConfig.serviceCluster ?? "istio-proxy"),
    };
    return tracer("envoy.tracers.datadog", "envoy.config.trace.v3.DatadogConfig", config, {
      maxPathTagLength: datadog.maxTagLength ?? 0,
    });
  }
  if (skywalking !== undefined) {
    const target = providerCluster(lookups, skywalking);
    if (target === undefined) return undefined;
    const config: SkyWalkingConfigJson = { grpcService: providerGrpcService(target) };
    return tracer("envoy.tracers.skywalking", "envoy.config.trace.v3.SkyWalkingConfig", config, {
      spawnsUpstreamSpan: true,
    });
  }
  return opentelemetry === undefined ? undefined : openTelemetryTracer(opentelemetry, view, lookups);
}

function tracer(name: string, type: string, config: object, rest: Partial<Omit<Tracer, "provider">>): Tracer {
  return {
    provider: { name, typedConfig: packAny(type, config) },
    maxPathTagLength: 0,
    spawnsUpstreamSpan: false,
    samplesItself: false,
    ...rest,
  };
}

function zipkinConfig(
  { proxy }: TracingProxy,
  zipkin: NonNullable<ExtensionProvider["zipkin"]>,
  { hostname, cluster }: ProviderCluster,
): ZipkinServiceConfigJson {
  const path = zipkin.path === undefined || zipkin.path === "" ? "/api/v2/spans" : zipkin.path;
  // Older proxies only know the fields that Envoy has deprecated, and neither headers nor a timeout.
  const collector: ZipkinServiceConfigJson = istioVersionAtLeast(proxy.istioVersion, 1, 29)
    ? {
        collectorService: {
          httpUri: { uri: `http://${hostname}${path}`, cluster, timeout: zipkin.timeout ?? "5s" },
          ...headersToAdd(zipkin.headers),
        },
      }
    : { collectorCluster: cluster, collectorEndpoint: path, collectorHostname: hostname };
  const propagatesW3c =
    zipkin.traceContextOption === "USE_B3_WITH_W3C_PROPAGATION" && istioVersionAtLeast(proxy.istioVersion, 1, 28);
  return {
    collectorEndpointVersion: "HTTP_JSON",
    sharedSpanContext: false,
    ...(zipkin.enable64bitTraceId === true ? {} : { traceId128bit: true }),
    ...(propagatesW3c ? { traceContextOption: "USE_B3_WITH_W3C_PROPAGATION" } : {}),
    ...collector,
  };
}

function openTelemetryTracer(
  provider: NonNullable<ExtensionProvider["opentelemetry"]>,
  view: TracingProxy,
  lookups: ProviderLookups,
): Tracer | undefined {
  const target = providerCluster(lookups, provider);
  if (target === undefined) return undefined;
  const { http, grpc, dynatraceSampler } = provider;
  const sampler = dynatraceSampler === undefined ? undefined : samplerOf(provider, target, lookups);
  if (dynatraceSampler !== undefined && sampler === undefined) return undefined;
  const detectors = resourceDetectors(provider);
  const config: OpenTelemetryConfigJson = {
    ...serviceName(view, provider),
    ...(http === undefined
      ? {
          grpcService: {
            ...providerGrpcService(target),
            ...(grpc?.timeout === undefined ? {} : { timeout: grpc.timeout }),
            ...initialMetadata(grpc?.initialMetadata),
          },
        }
      : { httpService: httpService(joinPath(target.hostname, http.path ?? ""), target.cluster, http) }),
    ...(detectors.length === 0 ? {} : { resourceDetectors: detectors }),
    ...(sampler === undefined ? {} : { sampler }),
  };
  return tracer("envoy.tracers.opentelemetry", "envoy.config.trace.v3.OpenTelemetryConfig", config, {
    maxPathTagLength: provider.maxTagLength ?? 0,
    samplesItself: sampler !== undefined,
  });
}

function resourceDetectors(provider: NonNullable<ExtensionProvider["opentelemetry"]>): TypedExtensionConfigJson[] {
  const { environment, dynatrace } = provider.resourceDetectors ?? {};
  const enriched = provider.serviceAttributeEnrichment === "OTEL_SEMANTIC_CONVENTIONS";
  const detectors = [
    ...(environment === undefined ? [] : ["environment"]),
    ...(dynatrace === undefined ? [] : ["dynatrace"]),
    // Lets a proxy's environment say what the conventions want to know.
    ...(enriched && environment === undefined ? ["environment"] : []),
  ];
  return detectors.map((kind) => ({
    name: `envoy.tracers.opentelemetry.resource_detectors.${kind}`,
    typedConfig: packAny(
      `envoy.extensions.tracers.opentelemetry.resource_detectors.v3.${kind === "dynatrace" ? "Dynatrace" : "Environment"}ResourceDetectorConfig`,
      {},
    ),
  }));
}

/** undefined: the sampler has no place to ask. */
function samplerOf(
  { http, dynatraceSampler }: NonNullable<ExtensionProvider["opentelemetry"]>,
  exporter: ProviderCluster,
  lookups: ProviderLookups,
): TypedExtensionConfigJson | undefined {
  const { tenant = "", clusterId = 0, rootSpansPerMinute = 0, httpService: own } = dynatraceSampler ?? {};
  const target = own === undefined ? exporter : providerCluster(lookups, own);
  const settings = own === undefined ? http : own.http;
  if (target === undefined || settings === undefined) return undefined;
  const path = own === undefined ? "api/v2/samplingConfiguration" : (settings.path ?? "");
  return {
    name: "envoy.tracers.opentelemetry.samplers.dynatrace",
    typedConfig: packAny("envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig", {
      ...(tenant === "" ? {} : { tenant }),
      ...(clusterId === 0 ? {} : { clusterId }),
      ...(rootSpansPerMinute === 0 ? {} : { rootSpansPerMinute }),
      httpService: httpService(joinPath(target.hostname, path), target.cluster, settings),
    }),
  };
}

/** Istio's API says what the time limit is that nobody writes; Istio leaves it out, and Envoy refuses the listener. */
function httpService(uri: string, cluster: string, { timeout = "3s", headers }: HttpService): HttpServiceJson {
  return {
    httpUri: { uri, cluster, timeout },
    ...headersToAdd(headers),
  };
}

/** One slash between the two. */
function joinPath(host: string, path: string): string {
  return path === "" ? host : `${host}/${path.replace(/^\/+/, "")}`;
}

/** Headers that come from the control plane's environment have no value here: stages read no environment. */
function headersToAdd(headers: readonly HttpHeader[] | undefined): { requestHeadersToAdd?: HeaderValueOptionJson[] } {
  if (headers === undefined || headers.length === 0) return {};
  return {
    requestHeadersToAdd: headers.map((header) => ({
      header: headerValue(header),
      appendAction: "OVERWRITE_IF_EXISTS_OR_ADD",
    })),
  };
}

function initialMetadata(headers: readonly HttpHeader[] | undefined): { initialMetadata?: HeaderValueJson[] } {
  return headers === undefined || headers.length === 0 ? {} : { initialMetadata: headers.map(headerValue) };
}

function headerValue({ name, value = "" }: HttpHeader): HeaderValueJson {
  return { key: name, ...(value === "" ? {} : { value }) };
}

function serviceName(
  { tracing }: TracingProxy,
  { serviceAttributeEnrichment }: NonNullable<ExtensionProvider["opentelemetry"]>,
): { serviceName?: string } {
  const conventional = serviceAttributeEnrichment === "OTEL_SEMANTIC_CONVENTIONS";
  const name = conventional ? tracing.conventionalName : tracing.nodeCluster;
  return name === "" ? {} : { serviceName: name };
}
