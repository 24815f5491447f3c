import ipaddr from "ipaddr.js";
import type { AddressJson, CidrRangeJson } from "../../gen/envoy/config/core/v3/address_pb.ts";

export const isIpv6 = (address: string): boolean => address.includes(":");

/** An address in one spelling; as it is written where it is none. */
export const plainAddress = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.parse(address).toString() : address.toLowerCase();

/** `10.0.0.0/8`, without bits behind the prefix. */
export function networkText({ addressPrefix = "", prefixLen = 0 }: CidrRangeJson): string {
  const text = `${addressPrefix}/${prefixLen}`;
  if (!ipaddr.isValidCIDR(text)) return text;
  const family = isIpv6(addressPrefix) ? ipaddr.IPv6 : ipaddr.IPv4;
  return `${family.networkAddressFromCIDR(text).toString()}/${prefixLen}`;
}

/** Whether a range, as `networkText` writes it, holds an address. */
export function holds(range: string, address: string): boolean {
  if (!ipaddr.isValidCIDR(range) || !ipaddr.isValid(address)) return false;
  const [network, bits] = ipaddr.parseCIDR(range);
  const one = ipaddr.parse(address);
  return network.kind() === one.kind() && one.match(network, bits);
}

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
  readonly takesIpv4Too: boolean;
}

/** The TCP address; undefined for a pipe, UDP and what is inside Envoy. */
export function socketAddressOf(address: AddressJson | undefined): SocketAddress | undefined {
  const socket = address?.socketAddress;
  if (socket === undefined || socket.protocol === "UDP") return undefined;
  return {
    address: plainAddress(socket.address ?? ""),
    port: socket.portValue ?? 0,
    takesIpv4Too: socket.ipv4Compat === true,
  };
}
