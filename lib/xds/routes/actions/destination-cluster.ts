import type { Destination } from "../../../config/kinds/virtual-service.ts";
import { outboundClusterName, unknownService } from "../../names.ts";

/** What a destination's cluster name depends on beside the destination. */
export interface DestinationContext {
  /** Port that a destination without one means where its service does not tell. */
  readonly port: number;
  /** The host that the service of a host stands for, if it is an alias. */
  externalName(host: string): string | undefined;
  /** The port of a host's service, if it has one only; a table of one port need not say, it is the table's. */
  onlyPort(host: string): number | undefined;
}

/** Where no service is known. */
export const noServices: DestinationContext = {
  port: 0,
  externalName: () => undefined,
  onlyPort: () => undefined,
};

/** A cluster that a route names. */
export interface RoutedCluster {
  readonly name: string;
  /** "" where the destination names none. */
  readonly host: string;
  readonly port: number;
}

/**
 * The cluster of a destination: its own port, else the service's only one, else the table's. Nobody checks that the cluster exists.
 * An alias is replaced by the host that it stands for.
 * @see docs/how-istio-does-it/routes.md#destinations
 */
export function routedCluster(destination: Destination, context: DestinationContext): RoutedCluster {
  if (destination.host === "") return unknownCluster;
  const host = context.externalName(destination.host) || destination.host;
  const port = portOf(destination, context);
  return { name: outboundClusterName(port, destination.subset ?? "", host), host, port };
}

const unknownCluster: RoutedCluster = { name: unknownService, host: "", port: 0 };

/** The name alone. */
export function destinationCluster(destination: Destination, context: DestinationContext): string {
  return routedCluster(destination, context).name;
}

function portOf({ host, port }: Destination, context: DestinationContext): number {
  return port === undefined ? (context.onlyPort(host) ?? context.port) : (port.number ?? 0);
}
