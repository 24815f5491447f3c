import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { HTTPRetry } from "../../config/kinds/virtual-service.ts";
import type { Protocol } from "../../registry/service.ts";
import { defaultRoute, inboundVirtualHostName, operationName } from "../names.ts";
import { inboundRetryPolicy } from "./actions/retry-policy.ts";

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
 * Retries are for requests that Envoy did not send at all, unless the mesh says otherwise; gRPC has none, because its clients retry themselves.
 *
 * @param retries the mesh's policy of inbound routes; undefined: Istio's
 * @see docs/how-istio-does-it/routes.md#inbound-routes
 */
export function inboundRouteConfiguration(
  target: InboundRouteTarget,
  retries: HTTPRetry | undefined,
): RouteConfigurationJson {
  const { hostname, servicePort, protocol, cluster } = target;
  const retryPolicy = isGrpc(protocol) ? undefined : inboundRetryPolicy(retries);
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
              ...(retryPolicy === undefined ? {} : { retryPolicy }),
            },
          },
        ],
      },
    ],
  };
}

const isGrpc = (protocol: Protocol): boolean => protocol === "GRPC" || protocol === "GRPC-Web";
