import type { Service, ServicePort } from "../registry/service.ts";

/** The port of a service with a number; UDP has numbers of its own, and proxies have nothing to do with it. */
export function streamPort(service: Service, number: number): ServicePort | undefined {
  return service.ports.find((port) => port.port === number && port.protocol !== "UDP");
}
