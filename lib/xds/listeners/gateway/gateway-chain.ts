import type { FilterChainJson, FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { DownstreamTlsContextJson } from "../../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { Origin } from "../../../base/diagnostic.ts";
import { downstreamTlsSocket } from "../../tls/downstream-socket.ts";
import { type ChainMatch, filterChainMatch } from "../filter-chain-match.ts";
import { transportSocketConnectTimeout } from "../socket-fields.ts";

/** A chain of a gateway listener. */
export interface GatewayChain {
  readonly match: ChainMatch;
  readonly tls: DownstreamTlsContextJson | undefined;
  readonly filters: readonly FilterJson[];
  /** The Gateway or VirtualService that asks for it. */
  readonly origin: Origin;
}

/** Whether the listener must look into the handshake for this chain. */
export function readsHandshake({ match, tls }: GatewayChain): boolean {
  return match.sniHosts.length > 0 || (tls?.commonTlsContext?.alpnProtocols ?? []).length > 0;
}

export function gatewayFilterChain({ match, tls, filters }: GatewayChain): FilterChainJson {
  const envoyMatch = filterChainMatch(match);
  const chain: FilterChainJson = { filters: [...filters], transportSocketConnectTimeout };
  if (envoyMatch !== undefined) chain.filterChainMatch = envoyMatch;
  if (tls !== undefined) chain.transportSocket = downstreamTlsSocket(tls);
  return chain;
}
