import type { CidrRangeJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import type { FilterChainMatchJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { maskedCidr } from "../../config/values/ip-address.ts";

/**
 * Every combination of conditions that a chain's match claims, one of each of its lists, as Envoy compares them: ranges
 * without host bits, server names in lower case and `*.a` as `.a`. Two equal ones, in one chain or in two, are refused.
 */
export function chainClaims(match: FilterChainMatchJson): readonly string[] {
  const parts: readonly (readonly string[])[] = [
    [String(match.destinationPort ?? "")],
    rangesOf(match.prefixRanges),
    (match.serverNames ?? []).map((name) => name.toLowerCase().replace(/^\*(?=\.)/, "")),
    [match.transportProtocol ?? ""],
    match.applicationProtocols ?? [],
    rangesOf(match.directSourcePrefixRanges),
    [match.sourceType ?? "ANY"],
    rangesOf(match.sourcePrefixRanges),
    (match.sourcePorts ?? []).map(String),
  ];
  return parts.reduce<readonly string[]>(
    (claims, part) => (part.length === 0 ? [""] : part).flatMap((text) => claims.map((claim) => `${claim}|${text}`)),
    [""],
  );
}

function rangesOf(ranges: readonly CidrRangeJson[] | undefined): readonly string[] {
  return (ranges ?? []).map(({ addressPrefix = "", prefixLen = 0 }) => {
    const written = `${addressPrefix}/${Number(prefixLen)}`;
    return maskedCidr(written) ?? written;
  });
}
