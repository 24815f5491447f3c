import { serviceAddress, serviceAddresses, unspecifiedAddress } from "../../mesh/hosts/service-address.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";

/**
 * Addresses that a TCP or sniffed port of a service listens on, for a proxy. A service from outside of Kubernetes that has
 * none listens on everything of the proxy's families; a Kubernetes one keeps `0.0.0.0`.
 */
export function listenAddresses(service: Service, proxy: ClassProxy): readonly string[] {
  const main = serviceAddress(service, proxy);
  const addresses = [main, ...serviceAddresses(service, proxy).slice(1)];
  if (service.attributes.provider !== "External" || main !== unspecifiedAddress) return addresses;
  if (proxy.ipMode === "IPv6") return ["::"];
  return proxy.ipMode === "dual" ? [...addresses, "::"] : addresses;
}
