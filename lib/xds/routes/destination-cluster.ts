import type { Destination } from "../../config/kinds/virtual-service.ts";
import type { Service } from "../../registry/service.ts";
import { outboundClusterName } from "../names.ts";

/** What a destination's cluster name depends on beside the destination. */
export interface DestinationContext {
  /** Port that a destination without one means where its service does not tell. */
  readonly port: number;
  /** The service of a host as the table sees it; a table of one port sees that port only. */
  service(host: string): Pick<Service, "ports" | "attributes"> | undefined;
}

/**
 * The cluster of a destination: its own port, else the service's only one, else the table's. Nobody checks that the cluster exists.
 * An alias is replaced by the host that it stands for.
 * @see docs/how-istio-does-it/routes.md#destinations
 */
export function destinationCluster(destination: Destination, context: DestinationContext): string {
  if (destination.host === "") return "UnknownService";
  const service = context.service(destination.host);
  const host = service?.attributes.externalName || destination.host;
  const onlyPort = service?.ports.length === 1 ? service.ports[0]?.port : undefined;
  const port = destination.port === undefined ? (onlyPort ?? context.port) : (destination.port.number ?? 0);
  return outboundClusterName(port, destination.subset ?? "", host);
}
