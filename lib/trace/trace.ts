import type { FilterChainJson } from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { TcpProxyJson } from "../../gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts";
import type { DownstreamTlsContextJson } from "../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import { type Decision, type End, percent, type Trace, type Way } from "./decision.ts";
import { chooseFilterChain } from "./filter-chain.ts";
import { chooseListener } from "./listener.ts";
import { inspect } from "./listener-filters.ts";
import type { NodeResources } from "./node-resources.ts";
import type { ReadRegex } from "./string-match.ts";
import { throughCluster } from "./trace-cluster.ts";
import { throughHttp } from "./trace-http.ts";
import type { TracedRequest } from "./traced-request.ts";
import { isOfMessage } from "./typed-config.ts";

/**
 * What an Envoy with these resources does with a request: which listener, filter chain, route, clusters and endpoints it takes, why, and
 * what was passed over. What filters answer by themselves (authorization, tokens, faults), and what Envoy finds out (health, outliers) is
 * not in it.
 *
 * @param readRegex an engine in linear time, such as RE2JS: patterns are written by many, and this may run in a server
 * @see docs/cli.md
 */
export function trace(resources: NodeResources, request: TracedRequest, readRegex: ReadRegex): Trace {
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
  const onward = throughFilters({ resources, request, chain, isTls, readRegex });
  return { ...onward, decisions: [...decisions, ...onward.decisions] };
}

function ended(decisions: readonly Decision[], end: End): Trace {
  return { decisions, httpFilters: [], ways: [{ sharePercent: 100, decisions: [], rewritten: {}, mirrors: [], end }] };
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
  if (tls === undefined) return "the filter chain wants TLS, and the client speaks none";
  const settings: DownstreamTlsContextJson = Object(transportSocket?.typedConfig);
  const wantsCertificate = settings.requireClientCertificate === true && !tls.hasCertificate;
  return wantsCertificate ? "the filter chain wants a client's certificate" : undefined;
}

interface ChainStep {
  readonly resources: NodeResources;
  readonly request: TracedRequest;
  readonly chain: FilterChainJson;
  readonly isTls: boolean;
  readonly readRegex: ReadRegex;
}

/** The filter that ends the chain takes the request further. */
function throughFilters({ resources, request, chain, isTls, readRegex }: ChainStep): Trace {
  for (const { typedConfig } of chain.filters ?? []) {
    if (isOfMessage(typedConfig, "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager")) {
      const settings: HttpConnectionManagerJson = Object(typedConfig);
      const { http, tls } = request;
      if (http === undefined)
        return ended([], { kind: "closed", why: "the filter chain speaks HTTP, and the client does not" });
      if (tls !== undefined && !isTls)
        return ended([], { kind: "closed", why: "the filter chain speaks plain HTTP, and the client speaks TLS" });
      return throughHttp({ resources, request, http, settings, isTls, readRegex });
    }
    if (isOfMessage(typedConfig, "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy")) {
      const settings: TcpProxyJson = Object(typedConfig);
      return { decisions: [], httpFilters: [], ways: tcpWays(settings, resources, request) };
    }
  }
  return ended([], { kind: "not known", why: "the filter chain ends in a filter that is not followed here" });
}

function tcpWays(
  { cluster, weightedClusters }: TcpProxyJson,
  resources: NodeResources,
  request: TracedRequest,
): readonly Way[] {
  const weighted = weightedClusters?.clusters ?? [];
  const total = weighted.reduce((sum, { weight = 0 }) => sum + weight, 0);
  const parts =
    cluster === undefined
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
      return { sharePercent: percent(share), ...onward, rewritten: {}, mirrors: [] };
    });
}
