import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { ServicePort } from "../../registry/service.ts";
import { defaultRoute, inboundPassthroughCluster, inboundVirtualHostName, operationName } from "../names.ts";

/** What an inline inbound route table is about. */
export interface InboundRouteTarget {
  /** Host that traces name; "" for traffic to an unknown port. */
  readonly hostname: string;
  /** Port of the service, not of the workload. */
  readonly servicePort: Pick<ServicePort, "port" | "protocol">;
  /** Cluster that takes the traffic; the table has its name. */
  readonly cluster: string;
}

/** The target of a port that no service names: traffic goes where it was going. */
export const inboundPassthroughTarget: InboundRouteTarget = {
  hostname: "",
  servicePort: { port: 0, protocol: "HTTP" },
  cluster: inboundPassthroughCluster,
};

/**
 * The inline route table of an inbound connection manager: everything goes to one cluster. No VirtualService has a say here.
 * Retries are for requests that Envoy did not send at all; gRPC has none, because its clients retry themselves.
 *
 * @see docs/how-istio-does-it/routes.md#inbound-routes
 */
export function inboundRouteConfiguration(target: InboundRouteTarget): RouteConfigurationJson {
  const { hostname, servicePort, cluster } = target;
  return {
    name: cluster,
    validateClusters: false,
    virtualHosts: [
      {
        name: inboundVirtualHostName(servicePort.port),
        domains: ["*"],
        routes: [
          {
            name: defaultRoute,
            match: { prefix: "/" },
            decorator: { operation: operationName(hostname, servicePort.port, "/*") },
            route: {
              cluster,
              timeout: "0s",
              maxStreamDuration: { maxStreamDuration: "0s", grpcTimeoutHeaderMax: "0s" },
              ...(isGrpc(servicePort) ? {} : { retryPolicy: { retryOn: "reset-before-request", numRetries: 2 } }),
            },
          },
        ],
      },
    ],
  };
}

function isGrpc(port: Pick<ServicePort, "protocol">): boolean {
  return port.protocol === "GRPC" || port.protocol === "GRPC-Web";
}
