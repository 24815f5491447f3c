import type { AddressJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import type { AdditionalAddressJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";

type IpMode = ClassProxy["ipMode"];

const unixPrefix = "unix://";

/** Addresses that take everything; a dual-stack proxy's IPv4 one first, whatever the order of its own. */
export function wildcardAddresses(ipMode: IpMode): readonly [string, ...string[]] {
  return ipMode === "IPv4" ? ["0.0.0.0"] : ipMode === "IPv6" ? ["::"] : ["0.0.0.0", "::"];
}

/** Addresses for listeners that only the workload itself may use. */
export function loopbackAddresses(ipMode: IpMode): readonly [string, ...string[]] {
  return ipMode === "IPv4" ? ["127.0.0.1"] : ipMode === "IPv6" ? ["::1"] : ["127.0.0.1", "::1"];
}

export const isUnixBind = (bind: string): boolean => bind.startsWith(unixPrefix);

/** Envoy's form of a bind: an address and port, or the path of a unix socket. */
export function envoyAddress(bind: string, port: number): AddressJson {
  if (isUnixBind(bind)) return { pipe: { path: bind.slice(unixPrefix.length) } };
  // A zero port is the plain field's default, but inside `oneof port_specifier`, so it is written.
  return { socketAddress: { address: bind, portValue: port } };
}

/** `additionalAddresses`, absent when there are none. */
export function additionalAddresses(
  binds: readonly string[],
  port: number,
): { additionalAddresses?: AdditionalAddressJson[] } {
  if (binds.length === 0) return {};
  return { additionalAddresses: binds.map((bind) => ({ address: envoyAddress(bind, port) })) };
}
