import type { RegistryContent } from "../registry-content.ts";
import { serviceKey } from "../registry-state.ts";
import type { Endpoint, Service } from "../service.ts";

/** A registry that tests and tools fill by hand. Each change makes new content; content handed out never changes. */
export interface MemoryRegistry {
  content(): RegistryContent;
  /** Adds a service, or replaces the one with its host name and namespace. */
  putService(service: Service): void;
  /** Removes a service and its endpoints. */
  removeService(service: Service): void;
  /** Replaces all endpoints of a service; it need not be there yet. */
  setEndpoints(service: Service, endpoints: readonly Endpoint[]): void;
}

export function createMemoryRegistry(
  initial: RegistryContent = { provider: "Mock", services: [], endpoints: new Map() },
): MemoryRegistry {
  let content = initial;
  return {
    content: () => content,
    putService(service) {
      const key = serviceKey(service);
      const at = content.services.findIndex((known) => serviceKey(known) === key);
      const services = at < 0 ? [...content.services, service] : content.services.with(at, service);
      content = { ...content, services };
    },
    removeService(service) {
      const key = serviceKey(service);
      const endpoints = new Map(content.endpoints);
      endpoints.delete(key);
      content = { ...content, services: content.services.filter((known) => serviceKey(known) !== key), endpoints };
    },
    setEndpoints(service, list) {
      const endpoints = new Map(content.endpoints);
      if (list.length === 0) endpoints.delete(serviceKey(service));
      else endpoints.set(serviceKey(service), list);
      content = { ...content, endpoints };
    },
  };
}
