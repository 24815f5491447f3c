import type { Diagnostic, Origin } from "../../base/diagnostic.ts";
import { maskedCidr } from "../../config/values/ip-address.ts";
import { type ChainMatch, isMatchAll } from "./filter-chain-match.ts";

/** Chains that Envoy accepts side by side, and those that lost some or all of what they match. */
export interface DisjointChains<Chain> {
  readonly chains: readonly Chain[];
  /** As they came. */
  readonly trimmed: readonly Chain[];
}

/**
 * Takes from each chain what an earlier one matches already. Two chains that claim the same server name, address range and
 * protocol make Envoy refuse the whole listener, however different the rest of their lists is; Istio lets that happen.
 */
export function withoutOverlaps<Chain extends { readonly match: ChainMatch }>(
  chains: readonly Chain[],
): DisjointChains<Chain> {
  if (chains.length < 2) return { chains, trimmed: [] };
  const taken = new Set<string>();
  const kept: Chain[] = [];
  const trimmed: Chain[] = [];
  for (const chain of chains) {
    const wanted = claims(chain.match);
    const free = wanted.some((claim) => taken.has(claim)) ? freePart(chain.match, taken) : chain.match;
    if (free !== chain.match) trimmed.push(chain);
    if (free === undefined) continue;
    for (const claim of free === chain.match ? wanted : claims(free)) taken.add(claim);
    kept.push(free === chain.match ? chain : { ...chain, match: free });
  }
  return { chains: kept, trimmed };
}

/** What is left of a match of which something is taken: server names first, then ranges; undefined for nothing. */
function freePart(match: ChainMatch, taken: ReadonlySet<string>): ChainMatch | undefined {
  const clashes = (part: ChainMatch): boolean => claims(part).some((claim) => taken.has(claim));
  if (isMatchAll(match)) return undefined;
  const sniHosts = match.sniHosts.includes("*") ? [] : match.sniHosts;
  const freeHosts = sniHosts.filter((host) => !clashes({ ...match, sniHosts: [host] }));
  if (freeHosts.length > 0) return { ...match, sniHosts: freeHosts };
  const freeCidrs = match.destinationCidrs.filter((cidr) => !clashes({ ...match, destinationCidrs: [cidr] }));
  return freeCidrs.length > 0 ? { ...match, destinationCidrs: freeCidrs } : undefined;
}

const anything = [""];

/** Every combination that a match claims, one of each of its lists. */
function claims(match: ChainMatch): readonly string[] {
  const hosts = match.sniHosts.length === 0 || match.sniHosts.includes("*") ? anything : match.sniHosts;
  const ranges =
    match.destinationCidrs.length === 0 ? anything : match.destinationCidrs.map((cidr) => maskedCidr(cidr) ?? cidr);
  const protocols = match.applicationProtocols.length === 0 ? anything : match.applicationProtocols;
  const found: string[] = [];
  for (const range of ranges) {
    for (const protocol of protocols) {
      const rest = `${match.transportProtocol}|${range}|${protocol}|`;
      for (const host of hosts) found.push(rest + host);
    }
  }
  return found;
}

/** Says that a listener has a chain for the same connections already. */
export function chainOverlap(listener: string, match: ChainMatch, origin: Origin): Diagnostic {
  const what = [...match.sniHosts, ...match.destinationCidrs].join(", ");
  return {
    code: "filter-chain-overlap",
    severity: "warning",
    origin,
    path: [],
    message: `the listener ${listener} sends ${what === "" ? "everything" : what} elsewhere already: this route or server does not get it`,
    hint: "let one route or server have each server name and address range of a port",
  };
}
