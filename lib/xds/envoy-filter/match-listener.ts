/** Which listeners, chains and filters a patch means. @see docs/how-istio-does-it/envoy-filters.md#matching */
import type { FilterChainJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { Patch } from "./patch.ts";

/** The listeners that traffic of every port passes: there a port is a matter of the chain. */
function isVirtual(listener: ListenerJson): boolean {
  return listener.name === "virtualInbound" || listener.name === "virtualOutbound";
}

/** @param whole for patches of the listener itself, which compare the port of the virtual ones too */
export function matchesListener(listener: ListenerJson, { match }: Patch<unknown>, whole = false): boolean {
  const wanted = match.listener;
  if (wanted === undefined) return true;
  if (wanted.name && wanted.name !== listener.name) return false;
  if (!whole && isVirtual(listener)) return true;
  return !wanted.portNumber || listener.address?.socketAddress?.portValue === wanted.portNumber;
}

/** The socket of a chain that names none. */
const plainSocket = "envoy.transport_sockets.raw_buffer";

/** For a chain of a listener that matches. */
export function matchesChain(listener: ListenerJson, chain: FilterChainJson, { match }: Patch<unknown>): boolean {
  const port = match.listener?.portNumber;
  const own = chain.filterChainMatch;
  if (port && isVirtual(listener) && own?.destinationPort !== port) return false;
  const wanted = match.listener?.filterChain;
  if (wanted === undefined) return true;
  return (
    (!wanted.name || wanted.name === chain.name) &&
    (!wanted.sni || (own?.serverNames ?? []).includes(wanted.sni)) &&
    (!wanted.transportProtocol || own?.transportProtocol === wanted.transportProtocol) &&
    (!wanted.applicationProtocols ||
      wanted.applicationProtocols.split(",").every((alpn) => (own?.applicationProtocols ?? []).includes(alpn))) &&
    (!wanted.destinationPort || own?.destinationPort === wanted.destinationPort) &&
    (!wanted.transportSocket || (chain.transportSocket?.name ?? plainSocket) === wanted.transportSocket)
  );
}

/** Whether the network filter of that name is meant; a patch that names none means all. */
export function matchesNetworkFilter(name: string | undefined, { match }: Patch<unknown>): boolean {
  const wanted = match.listener?.filterChain?.filter;
  return wanted === undefined || (wanted.name ?? "") === (name ?? "");
}

export function namesNetworkFilter({ match }: Patch<unknown>): boolean {
  return match.listener?.filterChain?.filter !== undefined;
}

/** Whether the HTTP filter of that name is meant; a patch that names none means all. */
export function matchesHttpFilter(name: string | undefined, { match }: Patch<unknown>): boolean {
  const wanted = match.listener?.filterChain?.filter?.subFilter;
  return wanted === undefined || (wanted.name ?? "") === (name ?? "");
}

export function namesHttpFilter({ match }: Patch<unknown>): boolean {
  return match.listener?.filterChain?.filter?.subFilter !== undefined;
}
