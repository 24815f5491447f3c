import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { DnsCacheConfigJson } from "../../../../gen/envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache_pb.ts";
import type { HttpFilterJson } from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Service } from "../../../registry/service.ts";
import { packAny } from "../../core-messages.ts";
import { familyOfResolved, type Resolving } from "../../lookup-family.ts";
import { dynamicForwardProxyCacheName } from "../../names.ts";

/** Resolves the host of an HTTP request. */
export function httpForwardProxy(service: Service, resolving: Resolving): HttpFilterJson {
  return {
    name: "envoy.filters.http.dynamic_forward_proxy",
    typedConfig: packAny("envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig", {
      dnsCacheConfig: dnsCache(service, resolving),
    }),
  };
}

/** Resolves the server name of a TLS connection. */
export function sniForwardProxy(service: Service, port: number, resolving: Resolving): FilterJson {
  return {
    name: "envoy.extensions.filters.network.sni_dynamic_forward_proxy",
    typedConfig: packAny("envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig", {
      dnsCacheConfig: dnsCache(service, resolving),
      portValue: port,
    }),
  };
}

/** Shared with the cluster by its name. */
function dnsCache({ hostname }: Service, resolving: Resolving): DnsCacheConfigJson {
  return { name: dynamicForwardProxyCacheName(hostname), dnsLookupFamily: familyOfResolved(resolving) };
}
