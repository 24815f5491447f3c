import type { Http1ProtocolOptionsJson } from "../../../../gen/envoy/config/core/v3/protocol_pb.ts";
import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { RouteConfigurationJson } from "../../../../gen/envoy/config/route/v3/route_pb.ts";
import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { PathNormalization } from "../../../config/kinds/mesh-config.ts";
import { isHttp2 } from "../../../registry/protocol.ts";
import type { Protocol } from "../../../registry/service.ts";
import { overAds, type PackedJson, packAny, preserveCase } from "../../core-messages.ts";
import { type ListenerContext, telemetryOf } from "../listener-context.ts";
import { httpFilters } from "./http-filters.ts";
import { internalAddressField } from "./internal-address.ts";
import type { ChainPlace } from "./policy-filters.ts";
import { gatewayCertificateFields, inboundCertificateFields, serverFields } from "./proxy-headers.ts";

/** What tells one connection manager of a class from another. */
export interface ConnectionManagerOptions {
  readonly place: ChainPlace;
  /** With its final `;`. */
  readonly statPrefix: string;
  readonly routes:
    | { readonly kind: "rds"; readonly name: string }
    | { readonly kind: "inline"; readonly table: RouteConfigurationJson };
  /** Of the port: gRPC-Web and HTTP/2 leave traces. */
  readonly protocol: Protocol;
  /** An explicit HTTP proxy takes absolute URLs. */
  readonly isHttpProxy?: boolean;
  readonly forwardProxies?: readonly HttpFilterJson[];
}

/**
 * An HTTP connection manager.
 * @see docs/how-istio-does-it/listeners.md#connection-manager
 */
export function httpConnectionManager(context: ListenerContext, options: ConnectionManagerOptions): FilterJson {
  const { place, routes, protocol, isHttpProxy = false, forwardProxies = [] } = options;
  // A gateway may have thousands in one place, which differ in their routes and in the name of their statistics.
  const common =
    forwardProxies.length > 0
      ? commonFields(context, options)
      : context.stable([], `connection manager|${place.class}|${place.port}|${protocol}|${isHttpProxy}`, () =>
          commonFields(context, options),
        );
  const typedConfig = { ...common, statPrefix: options.statPrefix };
  if (routes.kind === "inline") typedConfig.routeConfig = routes.table;
  else typedConfig.rds = { configSource: overAds, routeConfigName: routes.name };
  return { name: "envoy.filters.network.http_connection_manager", typedConfig };
}

/** Everything but the routes and the name of the statistics. */
function commonFields(
  context: ListenerContext,
  options: ConnectionManagerOptions,
): PackedJson<HttpConnectionManagerJson> {
  const { place } = options;
  const { proxyConfig } = context.view.proxy;
  const { idleTimeout } = context.view.options;
  const { logs, tracing, useRequestIdForTraceSampling } = telemetryOf(context, place.class);
  const http1 = http1Options(context, options);
  const gateway = place.class === "gateway";
  const config: HttpConnectionManagerJson = {
    httpFilters: httpFilters(context, place, {
      grpcWeb: options.protocol === "GRPC-Web",
      forwardProxies: options.forwardProxies ?? [],
    }),
    ...(tracing === undefined ? {} : { tracing }),
    ...(idleTimeout === "" ? {} : { commonHttpProtocolOptions: { idleTimeout } }),
    ...(http1 === undefined ? {} : { httpProtocolOptions: http1 }),
    ...(place.class === "inbound" && isHttp2(options.protocol) ? { http2ProtocolOptions: {} } : {}),
    ...serverFields(proxyConfig, place.class),
    streamIdleTimeout: "0s",
    ...(logs.http.length === 0 ? {} : { accessLog: [...logs.http] }),
    useRemoteAddress: gateway,
    ...(gateway ? internalAddressField(context.view.lookups.meshNetworks) : {}),
    ...(gateway ? trustedHops(proxyConfig.gatewayTopology?.numTrustedProxies) : {}),
    ...(gateway ? gatewayCertificateFields(proxyConfig) : {}),
    ...(place.class === "inbound" ? inboundCertificateFields(proxyConfig) : {}),
    proxy100Continue: true,
    upgradeConfigs: [{ upgradeType: "websocket" }],
    ...pathFields(context.view.lookups.mesh.pathNormalization.normalization ?? "DEFAULT"),
    requestIdExtension: {
      typedConfig: packAny("envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig", { useRequestIdForTraceSampling }),
    },
    ...(proxyConfig.proxyHeaders?.xForwardedPort?.enabled === true ? { appendXForwardedPort: true } : {}),
  };
  return packAny("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", config);
}

function trustedHops(count = 0): HttpConnectionManagerJson {
  return count === 0 ? {} : { xffNumTrustedHops: count };
}

function pathFields(normalization: PathNormalization): HttpConnectionManagerJson {
  switch (normalization) {
    case "NONE":
      return { normalizePath: false, pathWithEscapedSlashesAction: "KEEP_UNCHANGED" };
    case "MERGE_SLASHES":
      return { normalizePath: true, mergeSlashes: true, pathWithEscapedSlashesAction: "KEEP_UNCHANGED" };
    case "DECODE_AND_MERGE_SLASHES":
      return { normalizePath: true, mergeSlashes: true, pathWithEscapedSlashesAction: "UNESCAPE_AND_FORWARD" };
    default:
      return { normalizePath: true, pathWithEscapedSlashesAction: "KEEP_UNCHANGED" };
  }
}

/** Gateways have the message always, others only with something in it. */
function http1Options(
  { view }: ListenerContext,
  { place, isHttpProxy }: ConnectionManagerOptions,
): Http1ProtocolOptionsJson | undefined {
  const fields: Http1ProtocolOptionsJson = {
    ...(isHttpProxy === true ? { allowAbsoluteUrl: true } : {}),
    ...(view.options.http10 ? { acceptHttp10: true } : {}),
    ...(view.proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true ? { headerKeyFormat: preserveCase } : {}),
  };
  return place.class === "gateway" || Object.keys(fields).length > 0 ? fields : undefined;
}
