import type { HttpProtocolOptionsJson as CommonOptionsJson } from "../../../gen/envoy/config/core/v3/protocol_pb.ts";
import type { HttpProtocolOptionsJson } from "../../../gen/envoy/extensions/upstreams/http/v3/http_protocol_options_pb.ts";
import type { ConnectionPoolSettings, Http2KeepAlive, OutlierDetection } from "../../config/kinds/destination-rule.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { isHttp, isHttp2 } from "../../registry/protocol.ts";
import type { Protocol } from "../../registry/service.ts";
import { packAny, preserveCase } from "../core-messages.ts";
import { errorMatcher } from "./outlier-detection.ts";
import type { SeenByProxy } from "./seen-by-proxy.ts";

/** Which protocol a cluster speaks; undefined: nobody said, which is HTTP/1.1 if an option has to be written. */
type UpstreamProtocol = "http1" | "http2" | "downstream";

/** What decides about the HTTP options of a cluster, beside who has it. */
export interface UpstreamHttpInputs {
  readonly protocol: Protocol;
  readonly pool: ConnectionPoolSettings | undefined;
  readonly outliers?: OutlierDetection;
  readonly preserveHeaderCase: boolean;
  /** The mesh for outbound clusters, where plain HTTP may be upgraded; undefined for inbound ones. */
  readonly upgradeBy: MeshConfig | undefined;
}

/** HTTP options of a cluster before they are written. */
export interface UpstreamHttp {
  readonly protocol: UpstreamProtocol | undefined;
  readonly common: CommonOptionsJson | undefined;
  readonly maxConcurrentStreams: number;
  /** Pings on connections that are known to be HTTP/2; undefined: none. */
  readonly keepAlive: Http2KeepAlive | undefined;
  readonly preserveHeaderCase: boolean;
  /** Which responses outlier detection counts as errors; undefined: 5xx. */
  readonly errors: HttpProtocolOptionsJson["outlierDetection"];
}

/**
 * Chooses the upstream protocol of a cluster and collects the options of its connection pool.
 *
 * Sniffed ports follow the downstream protocol on sidecars only: a gateway would offer HTTP/2 to its clients and could
 * not keep the promise upstream.
 *
 * @see docs/how-istio-does-it/clusters.md#http-options
 */
export function upstreamHttp(
  proxy: Pick<SeenByProxy, "proxyType">,
  { protocol, pool, outliers, preserveHeaderCase, upgradeBy }: UpstreamHttpInputs,
): UpstreamHttp {
  const http = pool?.http;
  let chosen: UpstreamProtocol | undefined;
  const keepsCase = preserveHeaderCase && (protocol === "Unsupported" || (isHttp(protocol) && !isHttp2(protocol)));
  if (isHttp2(protocol)) chosen = "http2";
  else if (protocol === "Unsupported" && proxy.proxyType === "sidecar") chosen = "downstream";
  else if (keepsCase) chosen = "http1";
  // An upgrade never replaces what the port itself decided.
  if (chosen === undefined && upgradeBy !== undefined && upgrades(protocol, pool, upgradeBy)) chosen = "http2";
  const common = commonOptions(pool);
  if (http?.useClientProtocol === true) chosen = "downstream";
  return {
    protocol: chosen,
    common,
    maxConcurrentStreams: chosen === "http2" && common !== undefined ? (http?.maxConcurrentStreams ?? 0) : 0,
    keepAlive: chosen === "http2" ? http?.http2KeepAlive : undefined,
    preserveHeaderCase: keepsCase,
    errors: errorMatcher(outliers),
  };
}

function upgrades(protocol: Protocol, pool: ConnectionPoolSettings | undefined, mesh: MeshConfig): boolean {
  if (pool?.http?.useClientProtocol === true) return false;
  switch (pool?.http?.h2UpgradePolicy) {
    case "UPGRADE":
      return true;
    case "DO_NOT_UPGRADE":
      return false;
    default:
      return isHttp(protocol) && mesh.h2UpgradePolicy === "UPGRADE";
  }
}

/** `http.idleTimeout` beats `tcp.idleTimeout`, which counts for TCP ports as well. */
function commonOptions(pool: ConnectionPoolSettings | undefined): CommonOptionsJson | undefined {
  const idleTimeout = pool?.http?.idleTimeout ?? pool?.tcp?.idleTimeout;
  const maxConnectionDuration = pool?.tcp?.maxConnectionDuration;
  const maxRequestsPerConnection = pool?.http?.maxRequestsPerConnection ?? 0;
  const maxConcurrentStreams = pool?.http?.maxConcurrentStreams ?? 0;
  if (
    idleTimeout === undefined &&
    maxConnectionDuration === undefined &&
    maxRequestsPerConnection <= 0 &&
    maxConcurrentStreams <= 0 &&
    pool?.http?.http2KeepAlive === undefined
  ) {
    return undefined;
  }
  return {
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    ...(maxRequestsPerConnection <= 0 ? {} : { maxRequestsPerConnection }),
    ...(maxConnectionDuration === undefined ? {} : { maxConnectionDuration }),
  };
}

const httpProtocolOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** The two protocols of a cluster that follows the downstream one. */
export function followDownstream(preserveHeaderCase: boolean): HttpProtocolOptionsJson {
  return {
    useDownstreamProtocolConfig: {
      httpProtocolOptions: preserveHeaderCase ? { headerKeyFormat: preserveCase } : {},
      http2ProtocolOptions: {},
    },
  };
}

/** Wraps HTTP options as the cluster's extension options. */
export function httpExtension(options: HttpProtocolOptionsJson): {
  readonly typedExtensionProtocolOptions: { [key: string]: { "@type": string } };
} {
  return { typedExtensionProtocolOptions: { [httpProtocolOptions]: packAny(httpProtocolOptions, options) } };
}

function protocolJson(http: UpstreamHttp): HttpProtocolOptionsJson {
  switch (http.protocol) {
    case "http2": {
      const { maxConcurrentStreams, keepAlive } = http;
      const http2ProtocolOptions = {
        ...(maxConcurrentStreams <= 0 ? {} : { maxConcurrentStreams }),
        ...(keepAlive === undefined ? {} : { connectionKeepalive: { ...keepAlive } }),
      };
      return { explicitHttpConfig: { http2ProtocolOptions } };
    }
    case "downstream":
      return followDownstream(http.preserveHeaderCase);
    default:
      return {
        explicitHttpConfig: { httpProtocolOptions: http.preserveHeaderCase ? { headerKeyFormat: preserveCase } : {} },
      };
  }
}

/**
 * The cluster's HTTP options, absent when nothing set one. Envoy wants a protocol as soon as there is any option, so an
 * undecided cluster gets HTTP/1.1 then.
 *
 * @param upstream automatic SNI and name checks of TLS origination
 */
export function httpOptions(
  http: UpstreamHttp,
  upstream: HttpProtocolOptionsJson["upstreamHttpProtocolOptions"],
): ReturnType<typeof httpExtension> | undefined {
  const { errors } = http;
  if ([http.protocol, http.common, upstream, errors].every((one) => one === undefined)) return undefined;
  return httpExtension({
    ...(http.common === undefined ? {} : { commonHttpProtocolOptions: http.common }),
    ...(upstream === undefined ? {} : { upstreamHttpProtocolOptions: upstream }),
    ...(errors === undefined ? {} : { outlierDetection: errors }),
    ...protocolJson(http),
  });
}
