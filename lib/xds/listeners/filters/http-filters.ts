import type { RouterJson } from "../../../../gen/envoy/extensions/filters/http/router/v3/router_pb.ts";
import type { HttpFilterJson } from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { packAny } from "../../core-messages.ts";
import { dynamicDnsFilters } from "../../dynamic-dns.ts";
import { alpnOverride, httpExchange } from "../../istio-proxy/metadata-filters.ts";
import { type ListenerContext, telemetryOf } from "../listener-context.ts";
import { inOrder } from "./in-order.ts";
import type { ChainTarget } from "./policy-filters.ts";

const grpcWeb: HttpFilterJson = {
  name: "envoy.filters.http.grpc_web",
  typedConfig: packAny("envoy.extensions.filters.http.grpc_web.v3.GrpcWeb", {}),
};

const grpcStats: HttpFilterJson = {
  name: "envoy.filters.http.grpc_stats",
  typedConfig: packAny("envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", {
    emitFilterState: true,
    statsForAllMethods: false,
  }),
};

/** Empty here: routes configure these two for themselves. */
const fault: HttpFilterJson = {
  name: "envoy.filters.http.fault",
  typedConfig: packAny("envoy.extensions.filters.http.fault.v3.HTTPFault", {}),
};
const cors: HttpFilterJson = {
  name: "envoy.filters.http.cors",
  typedConfig: packAny("envoy.extensions.filters.http.cors.v3.Cors", {}),
};

/**
 * The filters of a connection manager, in order. Those that stock Envoy lacks (metadata exchange, ALPN override, Istio's
 * statistics) are for Istio's own proxies alone.
 *
 * @param forwardProxies filters that resolve host names at run time, before the router
 * @see docs/how-istio-does-it/listeners.md#http-filters
 */
export function httpFilters(
  context: ListenerContext,
  chainTarget: ChainTarget,
  options: {
    readonly grpcWeb: boolean;
    readonly isHttpProxy: boolean;
    readonly forwardProxies: readonly HttpFilterJson[];
  },
): HttpFilterJson[] {
  const { policies, proxy, mesh } = context;
  const secured = chainTarget.class !== "outbound";
  return inOrder(
    httpExchange(proxy, chainTarget.class, options.isHttpProxy),
    secured ? policies.http.custom : [],
    policies.httpExtensions("AUTHN", chainTarget),
    secured ? policies.http.authentication : [],
    policies.httpExtensions("AUTHZ", chainTarget),
    secured ? policies.http.authorization : [],
    policies.httpExtensions("STATS", chainTarget),
    policies.httpExtensions("UNSPECIFIED", chainTarget),
    options.grpcWeb ? [grpcWeb] : [],
    [grpcStats],
    alpnOverride(proxy, chainTarget.class),
    routeConfigured,
    telemetryOf(context, chainTarget.class).stats.http,
    options.forwardProxies,
    chainTarget.class === "outbound" ? dynamicDnsFilters(proxy, mesh) : [],
    [router(proxy.proxyConfig.proxyHeaders?.envoyDebugHeaders?.disabled === true)],
  );
}

const routeConfigured = [fault, cors];

function router(suppressEnvoyHeaders: boolean): HttpFilterJson {
  const config: RouterJson = suppressEnvoyHeaders ? { suppressEnvoyHeaders } : {};
  return {
    name: "envoy.filters.http.router",
    typedConfig: packAny("envoy.extensions.filters.http.router.v3.Router", config),
  };
}
