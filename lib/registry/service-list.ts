import { byCodePoint } from "../base/diagnostic.ts";
import { aliasesByHost } from "./aliases.ts";
import { serviceKey } from "./changes/registry-state.ts";
import { keepSame } from "./changes/same.ts";
import type { Service } from "./service.ts";
import { type AllocatedAddresses, allocateAddresses } from "./service-entry/allocate-addresses.ts";

/** All services in order, and what became of those that the registries' own view did not suffice for. */
export interface ServiceList {
  /** Oldest first. */
  readonly services: readonly Service[];
  /** A service as its registry made it → the same with aliases and allocated addresses, for those that have any. */
  readonly completed: ReadonlyMap<Service, Service>;
}

/** Oldest first, then by name and namespace; a Kubernetes service before a ServiceEntry's, those by object name. */
function byServiceAge(a: Service, b: Service): number {
  return (
    a.creationTimestampMs - b.creationTimestampMs ||
    byCodePoint(a.attributes.name, b.attributes.name) ||
    byCodePoint(a.attributes.namespace, b.attributes.namespace) ||
    byCodePoint(b.attributes.provider, a.attributes.provider) ||
    byCodePoint(a.attributes.objectName, b.attributes.objectName)
  );
}

/** Does the service take an address that nobody wrote? */
function wantsAddress(service: Service): boolean {
  return (
    service.attributes.provider === "External" &&
    service.attributes.routesOnly !== true &&
    service.defaultAddress === "0.0.0.0" &&
    service.resolution !== "Passthrough" &&
    !service.hostname.startsWith("*")
  );
}

/**
 * Puts services in order and completes them with their aliases and, if addresses are to be hashed, with those.
 *
 * @param all in any order, but the services of one object in theirs
 * @param former list whose completed services are kept where they come out equal
 */
export function listServices(
  all: readonly Service[],
  allocation: "status" | "hash",
  former: ServiceList | undefined,
): ServiceList {
  const sorted = [...all].sort(byServiceAge);
  const aliases = aliasesByHost(sorted);
  const addresses: ReadonlyMap<string, AllocatedAddresses> =
    allocation === "hash" ? allocateAddresses(sorted.filter(wantsAddress).map(serviceKey)) : new Map();
  if (aliases.size === 0 && addresses.size === 0) return { services: sorted, completed: new Map() };
  const completed = new Map<Service, Service>();
  const services = sorted.map((service) => {
    const names = aliases.get(service.hostname);
    const given = wantsAddress(service) ? addresses.get(serviceKey(service)) : undefined;
    if (names === undefined && given === undefined) return service;
    const made: Service = {
      ...service,
      ...(given === undefined ? {} : { autoAllocatedIPv4: given.v4, autoAllocatedIPv6: given.v6 }),
      attributes: names === undefined ? service.attributes : { ...service.attributes, aliases: names },
    };
    const kept = keepSame(former?.completed.get(service), made);
    completed.set(service, kept);
    return kept;
  });
  return { services, completed };
}
