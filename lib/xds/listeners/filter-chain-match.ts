import type { FilterChainMatchJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { byCodePoint, inCodePointOrder } from "../../base/diagnostic.ts";
import { maskedCidr } from "../../config/values/ip-address.ts";
import { unspecifiedAddress } from "../../mesh/hosts/service-address.ts";
import { cidrRange } from "../core-messages.ts";

/** What a connection must look like to take a filter chain. Empty parts match everything. */
export interface ChainMatch {
  /** `*` among them lifts the condition. */
  readonly sniHosts: readonly string[];
  readonly destinationCidrs: readonly string[];
  readonly applicationProtocols: readonly string[];
  /** "" for any. */
  readonly transportProtocol: "" | "tls" | "raw_buffer";
}

export const matchAll: ChainMatch = {
  sniHosts: [],
  destinationCidrs: [],
  applicationProtocols: [],
  transportProtocol: "",
};

export function isMatchAll(match: ChainMatch): boolean {
  return (
    (match.sniHosts.length === 0 || match.sniHosts.includes("*")) &&
    match.applicationProtocols.length === 0 &&
    match.transportProtocol === "" &&
    match.destinationCidrs.length === 0
  );
}

/** Envoy's form; undefined for a chain that takes everything. Server names and ranges are sorted as text. */
export function filterChainMatch(match: ChainMatch): FilterChainMatchJson | undefined {
  if (isMatchAll(match)) return undefined;
  const { applicationProtocols, transportProtocol } = match;
  const serverNames = match.sniHosts.includes("*") ? [] : [...inCodePointOrder(match.sniHosts)];
  const prefixRanges = inCodePointOrder(match.destinationCidrs)
    .flatMap((cidr) => cidrRange(cidr) ?? [])
    .filter((range) => range.addressPrefix !== unspecifiedAddress);
  return {
    ...(prefixRanges.length === 0 ? {} : { prefixRanges }),
    ...(serverNames.length === 0 ? {} : { serverNames }),
    ...(transportProtocol === "" ? {} : { transportProtocol }),
    ...(applicationProtocols.length === 0 ? {} : { applicationProtocols: [...applicationProtocols] }),
  };
}

/**
 * A text that two matches share exactly if Envoy would refuse them side by side: order of server names and ranges
 * does not count, nor do `*`, the unspecified address and the bits behind a range's prefix.
 */
export function matchKey(match: ChainMatch): string {
  const sni = [...new Set(match.sniHosts)].filter((host) => host !== "*").sort(byCodePoint);
  const cidrs = [...new Set(match.destinationCidrs.map(maskedCidr))]
    .filter((cidr) => cidr !== undefined && !cidr.startsWith(`${unspecifiedAddress}/`))
    .sort();
  return JSON.stringify([match.transportProtocol, match.applicationProtocols, sni, cidrs]);
}
