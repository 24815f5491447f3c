import type { Service } from "../registry/service.ts";
import type { ClassProxy } from "./views.ts";

/** What decides which of a service's addresses a proxy uses. */
export type AddressPerspective = Pick<ClassProxy, "clusterId" | "ipMode" | "autoAllocatedAddresses">;

/** The address of a service that has none. */
export const unspecifiedAddress = "0.0.0.0";

/**
 * All addresses of a service for a proxy, the main one first; never empty.
 * Those of the proxy's own cluster and families; automatic ones where it takes them; else the service's default.
 * A dual-stack proxy takes the family of the first address only, as long as Istio's dual-stack switch is off.
 *
 * @see Istio 1.30 `pilot/pkg/model/service.go`, GetAddressForProxy and GetExtraAddressesForProxy
 */
export function serviceAddresses(service: Service, proxy: AddressPerspective): readonly string[] {
  const own = ofReachableFamily(service.clusterVips.get(proxy.clusterId) ?? [], proxy);
  if (own.length > 0) return own;
  if (proxy.autoAllocatedAddresses && service.defaultAddress === unspecifiedAddress) {
    const automatic = ofReachableFamily(
      [service.autoAllocatedIPv4, service.autoAllocatedIPv6].filter((address) => address !== ""),
      proxy,
    );
    if (automatic.length > 0) return automatic;
  }
  return [service.defaultAddress];
}

/** The main address of a service for a proxy; may be a range (`10.0.0.0/24`) or `unspecifiedAddress`. */
export function serviceAddress(service: Service, proxy: AddressPerspective): string {
  return serviceAddresses(service, proxy)[0] ?? service.defaultAddress;
}

function ofReachableFamily(addresses: readonly string[], proxy: AddressPerspective): readonly string[] {
  const [first] = addresses;
  if (first === undefined) return [];
  const family = proxy.ipMode === "dual" ? familyOf(first) : proxy.ipMode;
  return addresses.filter((address) => familyOf(address) === family);
}

/** Family of an address or range; undefined for anything else, such as a host name. */
export function familyOf(address: string): "IPv4" | "IPv6" | undefined {
  if (address.includes(":")) return "IPv6";
  return /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/.test(address) ? "IPv4" : undefined;
}
