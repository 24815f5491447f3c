import ipaddr from "ipaddr.js";
import type { HttpConnectionManagerJson } from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { MeshNetworks } from "../../../config/kinds/mesh-networks.ts";
import { cidrRange } from "../../core-messages.ts";

/**
 * The address ranges of the mesh's networks, whose clients a gateway believes more; absent when no network has any.
 * Sorted by address, then length of the prefix.
 */
export function internalAddressField({ networks }: MeshNetworks): HttpConnectionManagerJson {
  const cidrRanges = Object.values(networks)
    .flatMap((network) => network.endpoints)
    .flatMap(({ fromCidr }) => (fromCidr === undefined ? [] : (cidrRange(fromCidr) ?? [])))
    .map((range) => ({ range, bytes: ipaddr.parse(range.addressPrefix ?? "").toByteArray() }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes) || Number(a.range.prefixLen) - Number(b.range.prefixLen))
    .map(({ range }) => range);
  return cidrRanges.length === 0 ? {} : { internalAddressConfig: { cidrRanges } };
}

/** IPv4 before IPv6, then by value. */
function compareBytes(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return a.length - b.length;
  const at = a.findIndex((byte, index) => byte !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
