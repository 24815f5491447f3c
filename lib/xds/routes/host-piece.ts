import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigKey } from "../../base/diagnostic.ts";
import type { ForwardedHeaders } from "./actions/default-route.ts";
import { type ServiceDomains, serviceDomains } from "./service-domains.ts";
import type { TableContext, TableSettings } from "./table-context.ts";
import type { TableService } from "./table-services.ts";
import { type VirtualHostPiece, virtualHost } from "./virtual-host.ts";

/** A virtual host, and the objects that it was made from. */
export function hostPiece(
  name: string,
  domains: readonly string[],
  routes: readonly RouteJson[],
  from: readonly ConfigKey[],
  headers: ForwardedHeaders,
): VirtualHostPiece {
  return { name, json: virtualHost(name, domains, routes, headers.attemptCount), from };
}

/** The domains that a service has in a table. @param tablePort 0: of all ports */
export function domainsOf(
  { service }: TableService,
  port: number,
  tablePort: number,
  { domains, settings, memo }: Pick<TableContext, "domains" | "settings" | "memo">,
): ServiceDomains {
  return serviceDomains(memo, { proxy: domains, service, portSuffix: portSuffix(port, tablePort !== 0, settings) });
}

/** In a table of all ports, and for who compares them, the domains say which port they mean. */
export function portSuffix(port: number, isOnlyPort: boolean, { proxyless }: TableSettings): number | undefined {
  return isOnlyPort && !proxyless ? undefined : port;
}
