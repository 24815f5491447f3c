import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ConfigKey } from "../../../base/diagnostic.ts";
import type { Config } from "../../../config/config.ts";
import type { Protocol } from "../../../registry/service.ts";
import { type ChainMatch, matchKey } from "../filter-chain-match.ts";

/** Where an outbound listener binds. */
export interface Binding {
  /** The first is the listener's own address; empty: each service decides. */
  readonly binds: readonly string[];
  /** A socket of its own; else traffic only comes from the virtual listener. */
  readonly bindToPort: boolean;
}

/** One chain of an outbound listener, before it is known whether it becomes the default one. */
export interface OutboundChain {
  readonly match: ChainMatch;
  readonly filters: readonly FilterJson[];
  /** The VirtualService whose route it is. */
  readonly virtualService?: Config;
}

/** A listener in the making, by address and port. Grows while the services of a scope are walked, and is never shared. */
export interface OutboundEntry {
  readonly binding: Binding;
  readonly port: number;
  protocol: Protocol;
  /** Made by an egress listener with a port of its own: the catch-all listener may not touch it. */
  locked: boolean;
  readonly chains: OutboundChain[];
  /** Services and virtual services that it was made from. */
  readonly from: ConfigKey[];
  /** Keys of the matches of `chains`; made when the first merge asks. */
  taken: Set<string> | undefined;
}

/** How a protocol behaves in a listener. */
export type ProtocolClass = "HTTP" | "TCP" | "auto" | "none";

export function protocolClass(protocol: Protocol): ProtocolClass {
  switch (protocol) {
    case "HTTP":
    case "HTTP2":
    case "HTTP_PROXY":
    case "GRPC":
    case "GRPC-Web":
      return "HTTP";
    case "TCP":
    case "HTTPS":
    case "TLS":
    case "Mongo":
    case "Redis":
    case "MySQL":
      return "TCP";
    case "Unsupported":
      return "auto";
    default:
      return "none";
  }
}

/** What becomes of an incoming service on an address and port that already has a listener. */
export type Conflict = "create" | "keep" | "replace" | "merge" | "mergeAndSniff" | "drop";

/**
 * The conflict table. A wildcard HTTP listener counts as sniffed, because it lets TCP through.
 * @see docs/how-istio-does-it/listeners.md#conflicts
 */
export function conflictOf(existing: OutboundEntry | undefined, incoming: Protocol): Conflict {
  if (existing === undefined) return "create";
  const conflict = tableEntry(protocolClass(existing.protocol), protocolClass(incoming));
  const wellKnown = isServerFirst(incoming) || isServerFirst(existing.protocol);
  // Sniffing breaks protocols in which the server speaks first.
  return conflict !== "keep" && wellKnown && incoming !== existing.protocol ? "drop" : conflict;
}

function tableEntry(existing: ProtocolClass, incoming: ProtocolClass): Conflict {
  if (incoming === "HTTP") return existing === "TCP" ? "mergeAndSniff" : "keep";
  if (incoming === "TCP") return existing === "HTTP" ? "mergeAndSniff" : "merge";
  return existing === "HTTP" ? "replace" : existing === "TCP" ? "mergeAndSniff" : "keep";
}

function isServerFirst(protocol: Protocol): boolean {
  return protocol === "Mongo" || protocol === "MySQL";
}

/**
 * Appends chains whose match is still free, and takes note of them.
 * @returns how many were left out
 */
export function appendChains(entry: OutboundEntry, incoming: readonly OutboundChain[]): number {
  const taken = entry.taken ?? new Set(entry.chains.map((chain) => matchKey(chain.match)));
  entry.taken = taken;
  let dropped = 0;
  for (const chain of incoming) {
    const key = matchKey(chain.match);
    if (taken.has(key)) dropped++;
    else {
      taken.add(key);
      entry.chains.push(chain);
    }
  }
  return dropped;
}
