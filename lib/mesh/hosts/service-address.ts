import type { Service } from "../../registry/service.ts";
import type { ClassProxy } from "../views/views.ts";

/** What decides which of a service's addresses a proxy uses. */
export type AddressPerspective = Pick<ClassProxy, "clusterId" | "ipMode" | "autoAllocatedAddresses">;

/** The address of a service that has none. */
export const unspecifiedAddress = "0.0.0.0";

/**
 * The main address of a service for a proxy; may be a range (`10.0.0.0/24`) or `unspecifiedAddress`.
 * That of the proxy's own cluster and family; an automatic one where it takes them; else the service's default, whatever
 * its family is: a listener has to stand somewhere.
 *
 * @see docs/how-istio-does-it/services.md#addresses-that-a-proxy-sees
 * @see istio 1.30.3 pilot/pkg/model/service.go, GetAddressForProxy
 */
export function serviceAddress(service: Service, proxy: AddressPerspective): string {
  const [own] = ofReachableFamily(service.clusterVips.get(proxy.clusterId) ?? [], proxy);
  if (own !== undefined) return own;
  if (!proxy.autoAllocatedAddresses || service.defaultAddress !== unspecifiedAddress) return service.defaultAddress;
  return ofReachableFamily(automaticAddresses(service), proxy)[0] ?? service.defaultAddress;
}

/**
 * All addresses at which a proxy can ask for a service, the main one first. Other than `serviceAddress` it never names an
 * address of a Kubernetes service that is of another family; so there may be none.
 *
 * @see docs/how-istio-does-it/services.md#addresses-that-a-proxy-sees
 * @see istio 1.30.3 pilot/pkg/model/service.go, GetAllAddressesForProxy
 */
export function serviceAddresses(service: Service, proxy: AddressPerspective): readonly string[] {
  const vips = service.clusterVips.get(proxy.clusterId) ?? [];
  const known = vips.length === 0 && proxy.autoAllocatedAddresses ? automaticAddresses(service) : vips;
  const reachable = ofReachableFamily(known, proxy);
  if (reachable.length > 0) return reachable;
  // Only a service without addresses per cluster, one of a ServiceEntry, is routed by its default whatever its family.
  if (service.clusterVips.size === 0) return [service.defaultAddress];
  return ofReachableFamily([service.defaultAddress], proxy);
}

function automaticAddresses(service: Service): readonly string[] {
  return [service.autoAllocatedIPv4, service.autoAllocatedIPv6].filter((address) => address !== "");
}

/** A dual-stack proxy takes the family of the first address only, as long as Istio's dual-stack switch is off. */
function ofReachableFamily(addresses: readonly string[], proxy: AddressPerspective): readonly string[] {
  const [first] = addresses;
  if (first === undefined) return [];
  const family = proxy.ipMode === "dual" ? familyOf(first) : proxy.ipMode;
  return addresses.filter((address) => familyOf(address) === family);
}

/** Family of an address or range; undefined for anything else, such as a host name. */
function familyOf(address: string): "IPv4" | "IPv6" | undefined {
  if (address.includes(":")) return "IPv6";
  return /^\d+\.\d+\.\d+\.\d+(?:\/\d+)?$/.test(address) ? "IPv4" : undefined;
}
