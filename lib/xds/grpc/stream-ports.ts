import type { Service } from "../../registry/service.ts";

/** Ports of a service that a stream may go to, each once, in their order. */
export function streamPorts({ ports }: Pick<Service, "ports">): readonly number[] {
  return [...new Set(ports.filter(({ protocol }) => protocol !== "UDP").map(({ port }) => port))];
}
