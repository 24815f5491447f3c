import { isWildcard } from "../../config/host-name.ts";
import type { Service } from "../../registry/service.ts";

/** A wildcard whose names Envoy resolves when a request or connection says which one. */
export function isDynamicWildcard(service: Pick<Service, "resolution" | "hostname">): boolean {
  return service.resolution === "DynamicDNS" && isWildcard(service.hostname);
}
