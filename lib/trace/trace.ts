import type { FilterChainJson, FilterJson } from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { TcpProxyJson } from "../../gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts";
import type { DownstreamTlsContextJson } from "../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import { type Decision, type End, type Place, percent, type Trace, type Way } from "./decision.ts";
import { chooseFilterChain } from "./filter-chain.ts";
import { throughNetworkFilters } from "./filters/network-filters.ts";
import type { FilterContext, Peer } from "./filters/stream.ts";
import { createWork, type Work } from "./filters/work.ts";
import { chooseListener } from "./listener.ts";
import { inspect } from "./listener-filters.ts";
import type { NodeResources } from "./node-resources.ts";
import type { Pattern, ReadRegex } from "./string-match.ts";
import { throughCluster } from "./trace-cluster.ts";
import { type HttpStep, throughHttp } from "./trace-http.ts";
import type { TracedRequest } from "./traced-request.ts";
import { isOfMessage } from "./typed-config.ts";

/**
 * What an Envoy with these resources does with a request: which listener, filter chain, filters, route, clusters and endpoints it takes,
 * why, and what was passed over. A way depends on what is not known here: an authorizer's answer, a client's address. What Envoy finds out
 * (health, outliers) is not in it. The work on rules is bounded.
 *
 * @param readRegex an engine in linear time, such as RE2JS: patterns are written by many, and this may run in a server
 * @see docs/cli.md
 */
export function trace(resources: NodeResources, request: TracedRequest, readRegex: ReadRegex): Trace {
  const work = createWork();
  const patterns = remembered(readRegex, work);
  const { decision, through } = chooseListener(resources.listeners, request);
  const listener = through.at(-1);
  if (listener === undefined) return ended([decision], { kind: "closed", why: "nothing listens there" });
  const seen = inspect(through, request);
  const chosen = chooseFilterChain(listener, request, seen);
  const decisions = [decision, chosen.decision];
  const { chain } = chosen;
  if (chain === undefined) {
    const { why } = chosen.decision;
    const isKnown = listener.filterChainMatcher === undefined;
    return ended(decisions, { kind: isKnown ? "closed" : "not known", why });
  }
  const isTls = terminatesTls(chain);
  const refused = handshakeFailure(chain, isTls, request);
  if (refused !== undefined) return ended(decisions, { kind: "closed", why: refused });
  const peer = peerOf(isTls, request);
  const own = { peer, serverName: seen.serverName, ignoresPathParameters: false };
  const context = { resources, request, ...own, readRegex: patterns, work };
  const place = chosen.decision.place ?? { type: "listeners", name: listener.name ?? "" };
  const onward = throughFilters({ context, chain, isTls, place });
  return { ...onward, decisions: [...decisions, ...onward.decisions] };
}

function ended(decisions: readonly Decision[], end: End): Trace {
  return {
    decisions,
    httpFilters: [],
    ways: [{ sharePercent: 100, decisions: [], dependsOn: [], rewritten: {}, mirrors: [], end }],
  };
}

/** Each expression is read once, and counts as work. */
function remembered(readRegex: ReadRegex, work: Work): ReadRegex {
  const known = new Map<string, Pattern | undefined>();
  return (pattern) => {
    if (!work.spend(10)) return undefined;
    if (!known.has(pattern)) known.set(pattern, work.spend(pattern.length) ? readRegex(pattern) : undefined);
    return known.get(pattern);
  };
}

function peerOf(isTls: boolean, { tls }: TracedRequest): Peer {
  if (!isTls || tls === undefined) return { kind: "plain" };
  if (!tls.hasCertificate) return { kind: "tls", names: [] };
  return tls.identity === undefined ? { kind: "unnamed" } : { kind: "tls", names: [tls.identity] };
}

const tlsMessage = "envoy.extensions.transport_sockets.tls";

const terminatesTls = ({ transportSocket }: FilterChainJson): boolean =>
  transportSocket?.typedConfig?.["@type"]?.includes(tlsMessage) === true;

/** Why the client's side and this one do not come together; undefined where they do. */
function handshakeFailure(
  { transportSocket }: FilterChainJson,
  isTls: boolean,
  { tls }: TracedRequest,
): string | undefined {
  if (!isTls) return undefined;
  if (tls === undefined) return "the filter chain requires TLS, and the client does not use it";
  const settings: DownstreamTlsContextJson = Object(transportSocket?.typedConfig);
  const wantsCertificate = settings.requireClientCertificate === true && !tls.hasCertificate;
  return wantsCertificate ? "the filter chain requires a client certificate" : undefined;
}

interface ChainStep {
  readonly context: FilterContext;
  readonly chain: FilterChainJson;
  readonly isTls: boolean;
  /** Of the chain. */
  readonly place: Place;
}

const managerMessage = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const proxyMessage = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

/** The filter that ends the chain takes the request further, unless one in front of it closes the connection. */
function throughFilters({ context, chain, isTls, place }: ChainStep): Trace {
  const { filters = [] } = chain;
  const isLast = ({ typedConfig }: FilterJson) =>
    isOfMessage(typedConfig, managerMessage) || isOfMessage(typedConfig, proxyMessage);
  const at = filters.findIndex(isLast);
  const last = filters[at]?.typedConfig;
  if (last === undefined)
    return ended([], { kind: "not known", why: "the filter chain ends in a filter that is not followed here" });
  const { decisions, dependsOn, end, cluster } = throughNetworkFilters(filters.slice(0, at), context, place);
  if (end !== undefined) return ended(decisions, end);
  const onward = isOfMessage(last, managerMessage)
    ? throughManager({ context, settings: Object(last), isTls, place })
    : { decisions: [], httpFilters: [], ways: tcpWays(Object(last), context, cluster) };
  return {
    ...onward,
    decisions: [...decisions, ...onward.decisions],
    ways: onward.ways.map((way) => ({ ...way, dependsOn: [...dependsOn, ...way.dependsOn] })),
  };
}

function throughManager({ context, settings, isTls, place }: Omit<HttpStep, "http">): Trace {
  const { http, tls } = context.request;
  if (http === undefined)
    return ended([], { kind: "closed", why: "the filter chain speaks HTTP, and the client does not" });
  if (tls !== undefined && !isTls)
    return ended([], { kind: "closed", why: "the filter chain speaks plain HTTP, and the client speaks TLS" });
  return throughHttp({ context, http, settings, isTls, place });
}

function tcpWays(
  { cluster, weightedClusters }: TcpProxyJson,
  { resources, request }: FilterContext,
  ofServerName: string | undefined,
): readonly Way[] {
  const weighted = weightedClusters?.clusters ?? [];
  const total = weighted.reduce((sum, { weight = 0 }) => sum + weight, 0);
  const parts =
    ofServerName !== undefined
      ? [{ name: ofServerName, share: 1, why: "the server name is its name" }]
      : cluster === undefined
        ? weighted.map(({ name = "", weight = 0 }) => ({
            name,
            share: weight / total,
            why: `weight ${weight} of ${total}`,
          }))
        : [{ name: cluster, share: 1, why: "the filter chain names it" }];
  return parts
    .filter(({ share }) => share > 0)
    .map(({ name, share, why }) => {
      const onward = throughCluster(resources, request, {
        name,
        why,
        missingStatus: 503,
        unavailable: (_, words) => ({ kind: "closed", why: words }),
      });
      return { sharePercent: percent(share), ...onward, dependsOn: [], rewritten: {}, mirrors: [] };
    });
}
