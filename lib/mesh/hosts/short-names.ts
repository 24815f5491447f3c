import type { Config } from "../../config/config.ts";
import type { Destination, HTTPRoute, RouteDestination, VirtualService } from "../../config/kinds/virtual-service.ts";
import { fullHostName } from "../../config/values/host-name.ts";

/** The reserved gateway name that stands for all sidecars. */
export const meshGateway = "mesh";

/** `namespace/name` of a gateway as a virtual service names it. @see docs/how-istio-does-it/names.md#gateway-names */
export function gatewayNameOf(written: string, namespace: string): string {
  if (written === meshGateway) return written;
  if (written.startsWith("./")) return `${namespace}/${written.slice(2)}`;
  if (written.includes("/")) return written;
  const [name = written, inNamespace] = written.split(".");
  return `${inNamespace ?? namespace}/${name}`;
}

/**
 * The same virtual service with all hosts and destinations as full names and all gateways as `namespace/name`,
 * both seen from its own namespace.
 */
export function withFullNames(config: Config<VirtualService>): Config<VirtualService> {
  const { namespace, domain } = config.meta;
  const host = (name: string) => fullHostName(name, namespace, domain);
  const gateway = (name: string) => gatewayNameOf(name, namespace);
  const destination = <D extends { readonly destination: Destination }>(to: D): D => ({
    ...to,
    destination: { ...to.destination, host: host(to.destination.host) },
  });
  const match = <M extends { readonly gateways?: readonly string[] }>(of: M): M =>
    of.gateways === undefined ? of : { ...of, gateways: of.gateways.map(gateway) };
  const l4 = <
    R extends {
      readonly match?: readonly { readonly gateways?: readonly string[] }[];
      readonly route?: readonly RouteDestination[];
    },
  >(
    route: R,
  ): R => ({
    ...route,
    ...(route.match === undefined ? {} : { match: route.match.map(match) }),
    ...(route.route === undefined ? {} : { route: route.route.map(destination) }),
  });
  const http = (route: HTTPRoute): HTTPRoute => ({
    ...route,
    ...(route.match === undefined ? {} : { match: route.match.map(match) }),
    ...(route.route === undefined ? {} : { route: route.route.map(destination) }),
    ...(route.mirror === undefined ? {} : { mirror: { ...route.mirror, host: host(route.mirror.host) } }),
    ...(route.mirrors === undefined ? {} : { mirrors: route.mirrors.map(destination) }),
  });
  const { spec } = config;
  return {
    ...config,
    spec: {
      ...spec,
      hosts: spec.hosts.map(host),
      ...(spec.gateways === undefined ? {} : { gateways: spec.gateways.map(gateway) }),
      ...(spec.http === undefined ? {} : { http: spec.http.map(http) }),
      ...(spec.tls === undefined ? {} : { tls: spec.tls.map(l4) }),
      ...(spec.tcp === undefined ? {} : { tcp: spec.tcp.map(l4) }),
    },
  };
}
