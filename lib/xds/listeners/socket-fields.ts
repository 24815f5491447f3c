import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";

/**
 * Time for a TLS handshake, against clients that take for ever. On chains of services, outbound and at gateways.
 * @see docs/how-istio-does-it/listeners.md#connect-timeout-of-transport-sockets
 */
export const transportSocketConnectTimeout = "15s";

/** Listeners with a socket of their own take one connection at a time, so that threads share them evenly. */
export const connectionLimit: ListenerJson = { maxConnectionsToAcceptPerSocketEvent: 1 };

/** Connections are spread over threads exactly, where the node's metadata asks for it. */
export function exactBalanceField(enabled: boolean): ListenerJson {
  return enabled ? { connectionBalanceConfig: { exactBalance: {} } } : {};
}
