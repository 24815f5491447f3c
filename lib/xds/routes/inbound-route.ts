import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { Protocol } from "../../registry/service.ts";
import { defaultRoute, inboundVirtualHostName, operationName } from "../names.ts";

/** What an inline inbound route table is about. */
export interface InboundRouteTarget {
  /** Host that traces name; "" for traffic to an unknown port. */
  readonly hostname: string;
  /** Port of the service, not of the workload; 0 for an unknown one. */
  readonly servicePort: number;
  readonly protocol: Protocol;
  /** Cluster that takes the traffic; the table has its name. */
  readonly cluster: string;
}

/**
 * The inline route table of an inbound connection manager: everything goes to one cluster. No VirtualService has a say here.
 * Retries are for requests that Envoy did not send at all; gRPC has none, because its clients retry themselves.
 *
 * @see docs/how-istio-does-it/routes.md#inbound-routes
 */
export function inboundRouteConfiguration(target: InboundRouteTarget): RouteConfigurationJson {
  const { hostname, servicePort, protocol, cluster } = target;
  return {
    name: cluster,
    validateClusters: false,
    virtualHosts: [
      {
        name: inboundVirtualHostName(servicePort),
        domains: ["*"],
        routes: [
          {
            name: defaultRoute,
            match: { prefix: "/" },
            decorator: { operation: operationName(hostname, servicePort, "/*") },
            route: {
              cluster,
              timeout: "0s",
              maxStreamDuration: { maxStreamDuration: "0s", grpcTimeoutHeaderMax: "0s" },
              ...(isGrpc(protocol) ? {} : { retryPolicy: { retryOn: "reset-before-request", numRetries: 2 } }),
            },
          },
        ],
      },
    ],
  };
}

const isGrpc = (protocol: Protocol): boolean => protocol === "GRPC" || protocol === "GRPC-Web";
