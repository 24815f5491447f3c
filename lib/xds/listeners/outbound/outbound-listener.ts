import type { FilterChainJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey } from "../../../base/diagnostic.ts";
import { keyOf } from "../../../config/config.ts";
import { query } from "../../../incremental/query.ts";
import { configPath, listenerName } from "../../names.ts";
import { eachOnce } from "../../provenance.ts";
import type { Resource } from "../../resource.ts";
import { additionalAddresses, envoyAddress } from "../bind.ts";
import { chainOverlap, withoutOverlaps } from "../chain-overlap.ts";
import { filterChainMatch, isMatchAll } from "../filter-chain-match.ts";
import { httpInspector, tlsInspector } from "../inspector.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import { connectionLimit, exactBalanceField, transportSocketConnectTimeout } from "../socket-fields.ts";
import { passthroughChain } from "./catch-all.ts";
import type { Binding, OutboundChain, OutboundEntry } from "./outbound-entry.ts";

/**
 * The listener of an entry. A chain that takes everything becomes the default chain, or the only one; where there is none,
 * what matches nothing goes where unknown traffic goes.
 *
 * @param behindAll keys of what stands behind every listener
 * @see docs/how-istio-does-it/listeners.md#fields-of-outbound-listeners
 */
export function outboundListener(
  walk: ListenerWalk,
  entry: OutboundEntry,
  behindAll: readonly ConfigKey[],
): Resource<ListenerJson> {
  const { binding, port, from } = entry;
  const chains = disjointChains(walk, listenerName(binding.binds[0] ?? "", port), entry.chains);
  return listenerOfChains(walk.memo, { context: walk.context, chains, from, behindAll, ...binding, port });
}

function disjointChains(
  { report }: ListenerWalk,
  listener: string,
  all: readonly OutboundChain[],
): readonly OutboundChain[] {
  // Of several chains that take everything the last one counts, as in Istio.
  const fallback = all.findLast(({ match }) => isMatchAll(match));
  const { chains, trimmed } = withoutOverlaps(all.filter(({ match }) => !isMatchAll(match)));
  for (const { match, virtualService } of trimmed) {
    if (virtualService !== undefined) report(chainOverlap(listener, match, virtualService.origin));
  }
  return fallback === undefined ? chains : [...chains, fallback];
}

interface Inputs extends Binding {
  readonly context: ListenerContext;
  readonly behindAll: readonly ConfigKey[];
  readonly chains: readonly OutboundChain[];
  readonly from: OutboundEntry["from"];
  readonly port: number;
}

const listenerOfChains = query(
  "outbound listener",
  { chains: "elements", from: "elements", binds: "value" },
  ({ context, behindAll, chains, from, binds, bindToPort, port }: Inputs): Resource<ListenerJson> => {
    const [bind = "", ...extra] = binds;
    const name = listenerName(bind, port);
    const sniffsHttp = chains.some(({ match }) => match.applicationProtocols.length > 0);
    const json = {
      name,
      address: envoyAddress(bind, port),
      ...additionalAddresses(extra, port),
      trafficDirection: "OUTBOUND",
      continueOnListenerFiltersTimeout: true,
      ...exactBalanceField(context.options.outboundExactBalance),
      ...(bindToPort ? connectionLimit : { bindToPort: false }),
      ...inspectors(chains, sniffsHttp),
      listenerFiltersTimeout: sniffsHttp ? context.mesh.protocolDetectionTimeout : "0s",
      ...chainFields(context, chains),
    } as const;
    const routes = chains.flatMap(({ virtualService }) => (virtualService === undefined ? [] : keyOf(virtualService)));
    return { name, json, from: eachOnce([...from, ...routes, ...behindAll]) };
  },
);

function inspectors(chains: readonly OutboundChain[], sniffsHttp: boolean): ListenerJson {
  const readsServerName = chains.some(
    ({ match, filters }) =>
      match.sniHosts.length > 0 || filters.some((filter) => filter.name?.endsWith("sni_dynamic_forward_proxy")),
  );
  const listenerFilters = [...(readsServerName ? [tlsInspector] : []), ...(sniffsHttp ? [httpInspector] : [])];
  return listenerFilters.length === 0 ? {} : { listenerFilters };
}

function chainFields(context: ListenerContext, chains: readonly OutboundChain[]): ListenerJson {
  const fallback = chains.find(({ match }) => isMatchAll(match));
  const others = chains.filter(({ match }) => !isMatchAll(match)).map(filterChain);
  if (fallback === undefined) return { filterChains: others, defaultFilterChain: passthroughChain(context) };
  if (others.length === 0) return { filterChains: [filterChain(fallback)] };
  return { filterChains: others, defaultFilterChain: filterChain(fallback) };
}

function filterChain({ match, filters, virtualService }: OutboundChain): FilterChainJson {
  const envoyMatch = filterChainMatch(match);
  return {
    ...(envoyMatch === undefined ? {} : { filterChainMatch: envoyMatch }),
    filters: [...filters],
    transportSocketConnectTimeout,
    ...(virtualService === undefined
      ? {}
      : { metadata: { filterMetadata: { istio: { config: configPath(virtualService.meta) } } } }),
  };
}
