import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { DownstreamTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import { downstreamTlsSocket } from "../tls/downstream-socket.ts";
import { filterChainMatch, matchAll } from "./filter-chain-match.ts";
import { transportSocketConnectTimeout } from "./socket-fields.ts";

/** A chain of a gateway listener. */
export interface GatewayChain {
  /** Empty, or with `*`: any. */
  readonly sniHosts: readonly string[];
  readonly applicationProtocols: readonly string[];
  readonly tls: DownstreamTlsContextJson | undefined;
  readonly filters: readonly FilterJson[];
}

/** Whether the listener must look into the handshake for this chain. */
export function readsHandshake({ sniHosts, tls }: GatewayChain): boolean {
  return sniHosts.length > 0 || (tls?.commonTlsContext?.alpnProtocols ?? []).length > 0;
}

export function gatewayFilterChain({ sniHosts, applicationProtocols, tls, filters }: GatewayChain): FilterChainJson {
  const match = filterChainMatch({ ...matchAll, sniHosts, applicationProtocols });
  return {
    ...(match === undefined ? {} : { filterChainMatch: match }),
    filters: [...filters],
    ...(tls === undefined ? {} : { transportSocket: downstreamTlsSocket(tls) }),
    transportSocketConnectTimeout,
  };
}
