import { serviceAddresses, unspecifiedAddress } from "../../mesh/service-address.ts";
import type { ClassProxy } from "../../mesh/views.ts";
import type { Service } from "../../registry/service.ts";

/**
 * Addresses that a TCP or sniffed port of a service listens on, for a proxy. A service from outside of Kubernetes that has
 * none listens on everything of the proxy's families; a Kubernetes one keeps `0.0.0.0`.
 */
export function listenAddresses(service: Service, proxy: ClassProxy): readonly string[] {
  const addresses = serviceAddresses(service, proxy);
  if (service.attributes.provider !== "External" || addresses[0] !== unspecifiedAddress) return addresses;
  if (proxy.ipMode === "IPv6") return ["::"];
  return proxy.ipMode === "dual" ? [...addresses, "::"] : addresses;
}
