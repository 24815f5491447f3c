import type { Http1ProtocolOptionsJson } from "../../../../gen/envoy/config/core/v3/protocol_pb.ts";
import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { RouteConfigurationJson } from "../../../../gen/envoy/config/route/v3/route_pb.ts";
import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { PathNormalization } from "../../../config/kinds/mesh-config.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { isHttp2 } from "../../../registry/protocol.ts";
import type { Protocol } from "../../../registry/service.ts";
import { overAds, type PackedJson, packAny, preserveCase } from "../../core-messages.ts";
import { limitConnections } from "../connection-settings.ts";
import { type ListenerContext, telemetryOf } from "../listener-context.ts";
import { httpFilters } from "./http-filters.ts";
import { internalAddressField } from "./internal-address.ts";
import type { ChainTarget } from "./policy-filters.ts";
import { gatewayCertificateFields, inboundCertificateFields, serverFields } from "./proxy-headers.ts";

/** What tells one connection manager of a class from another. */
export interface ConnectionManagerOptions {
  readonly chainTarget: ChainTarget;
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
export function httpConnectionManager(
  context: ListenerContext,
  options: ConnectionManagerOptions,
  memo: Memo,
): FilterJson {
  const { chainTarget, routes, protocol, isHttpProxy = false, forwardProxies = [] } = options;
  const common = { context, class: chainTarget.class, port: chainTarget.port, protocol, isHttpProxy };
  const fields = forwardProxies.length > 0 ? commonFields(common, forwardProxies) : plainFields(memo, common);
  const typedConfig = { ...fields, statPrefix: options.statPrefix };
  if (routes.kind === "inline") typedConfig.routeConfig = routes.table;
  else typedConfig.rds = { configSource: overAds, routeConfigName: routes.name };
  return { name: "envoy.filters.network.http_connection_manager", typedConfig };
}

/** What the connection managers of one place have in common. */
interface Common extends ChainTarget {
  readonly context: ListenerContext;
  readonly protocol: Protocol;
  readonly isHttpProxy: boolean;
}

/** A gateway may have thousands in one place, which differ in their routes and in the name of their statistics. */
const plainFields = query("connection manager", (common: Common) => commonFields(common, []));

/** Everything but the routes and the name of the statistics. */
function commonFields(
  common: Common,
  forwardProxies: readonly HttpFilterJson[],
): PackedJson<HttpConnectionManagerJson> {
  const { context, protocol, isHttpProxy, ...chainTarget } = common;
  const { proxyConfig } = context.proxy;
  const { idleTimeout } = context.options;
  const { logs, tracing, useRequestIdForTraceSampling } = telemetryOf(context, chainTarget.class);
  const http1 = http1Options(common);
  const gateway = chainTarget.class === "gateway";
  const config: PackedJson<HttpConnectionManagerJson> = packAny(
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    {
      httpFilters: httpFilters(context, chainTarget, { grpcWeb: protocol === "GRPC-Web", isHttpProxy, forwardProxies }),
    },
  );
  // Field by field: of what is left out by an empty spread, each costs as much as a field.
  if (tracing !== undefined) config.tracing = tracing;
  if (idleTimeout !== "") config.commonHttpProtocolOptions = { idleTimeout };
  if (http1 !== undefined) config.httpProtocolOptions = http1;
  if (chainTarget.class === "inbound" && isHttp2(protocol)) config.http2ProtocolOptions = {};
  Object.assign(config, serverFields(proxyConfig, chainTarget.class));
  config.streamIdleTimeout = "0s";
  if (logs.http.length > 0) config.accessLog = [...logs.http];
  config.useRemoteAddress = gateway;
  if (gateway) Object.assign(config, gatewayFields(context));
  if (chainTarget.class === "inbound") Object.assign(config, inboundCertificateFields(proxyConfig));
  config.proxy100Continue = true;
  config.upgradeConfigs = [{ upgradeType: "websocket" }];
  Object.assign(config, pathFields(context.mesh.pathNormalization.normalization ?? "DEFAULT"));
  limitConnections(config, context);
  config.requestIdExtension = {
    typedConfig: packAny("envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig", { useRequestIdForTraceSampling }),
  };
  if (proxyConfig.proxyHeaders?.xForwardedPort?.enabled === true) config.appendXForwardedPort = true;
  return config;
}

/** Whom a gateway believes, and what it tells of clients' certificates. */
const gatewayFields = ({ meshNetworks, proxy }: ListenerContext): HttpConnectionManagerJson => ({
  ...internalAddressField(meshNetworks),
  ...trustedHops(proxy.proxyConfig.gatewayTopology?.numTrustedProxies),
  ...gatewayCertificateFields(proxy.proxyConfig),
});

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
function http1Options({ context, isHttpProxy, ...chainTarget }: Common): Http1ProtocolOptionsJson | undefined {
  const { options, proxy } = context;
  const fields: Http1ProtocolOptionsJson = {
    ...(isHttpProxy ? { allowAbsoluteUrl: true } : {}),
    ...(options.http10 ? { acceptHttp10: true } : {}),
    ...(proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true ? { headerKeyFormat: preserveCase } : {}),
  };
  return chainTarget.class === "gateway" || Object.keys(fields).length > 0 ? fields : undefined;
}
