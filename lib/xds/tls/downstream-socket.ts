import type { TransportSocketJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { DownstreamTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import { packAny } from "../core-messages.ts";

/** Offered to clients that speak HTTP. */
export const httpAlpns = ["h2", "http/1.1"] as const;

/** Offered to mesh clients of TCP chains: the first one lets Istio's proxies tell each other who they are. */
export const tcpMeshAlpns = ["istio-peer-exchange", ...httpAlpns] as const;

/** Ends TLS in a filter chain. */
export function downstreamTlsSocket(context: DownstreamTlsContextJson): TransportSocketJson {
  return {
    name: "envoy.transport_sockets.tls",
    typedConfig: packAny("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", context),
  };
}
