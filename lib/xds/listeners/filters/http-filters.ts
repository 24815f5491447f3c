import type { RouterJson } from "../../../../gen/envoy/extensions/filters/http/router/v3/router_pb.ts";
import type { HttpFilterJson } from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { packAny } from "../../core-messages.ts";
import type { ListenerContext } from "../listener-context.ts";
import { inOrder } from "./in-order.ts";
import type { ChainPlace } from "./policy-filters.ts";

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
 * statistics) are left out: docs/differences.md.
 *
 * @param forwardProxies filters that resolve host names at run time, before the router
 * @see docs/how-istio-does-it/listeners.md#http-filters
 */
export function httpFilters(
  { policies, proxy }: ListenerContext,
  place: ChainPlace,
  options: { readonly grpcWeb: boolean; readonly forwardProxies: readonly HttpFilterJson[] },
): HttpFilterJson[] {
  const secured = place.class !== "outbound";
  return inOrder(
    secured ? policies.http.custom : [],
    policies.httpExtensions("AUTHN", place),
    secured ? policies.http.authentication : [],
    policies.httpExtensions("AUTHZ", place),
    secured ? policies.http.authorization : [],
    policies.httpExtensions("STATS", place),
    policies.httpExtensions("UNSPECIFIED", place),
    options.grpcWeb ? [grpcWeb] : [],
    [grpcStats, fault, cors],
    options.forwardProxies,
    [router(proxy.proxyConfig.proxyHeaders?.envoyDebugHeaders?.disabled === true)],
  );
}

function router(suppressEnvoyHeaders: boolean): HttpFilterJson {
  const config: RouterJson = suppressEnvoyHeaders ? { suppressEnvoyHeaders } : {};
  return {
    name: "envoy.filters.http.router",
    typedConfig: packAny("envoy.extensions.filters.http.router.v3.Router", config),
  };
}
