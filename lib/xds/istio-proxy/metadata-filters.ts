/**
 * Filters of Istio's own proxy by which proxies tell one another what workload they stand before, and that choose the ALPN of a
 * connection. A stock Envoy lacks them and refuses the whole resource that one stands in.
 * @see docs/how-istio-does-it/telemetry.md#who-talks-to-whom
 * @see istio 1.30.3 pilot/pkg/xds/filters/filters.go
 */
import type { FilterJson as ClusterFilterJson } from "../../../gen/envoy/config/cluster/v3/filter_pb.ts";
import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { FilterConfigJson } from "../../../gen/istio/alpn/config_pb.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import { packAny } from "../core-messages.ts";
import type { ListenerClass } from "../listeners/filters/policy-filters.ts";

const exchangeName = "istio.metadata_exchange";

/** Istio has no message for these in its API: they travel as a struct and the name of what it is. */
const untyped = (typeUrl: string, value: object) =>
  packAny("udpa.type.v1.TypedStruct", { typeUrl: `type.googleapis.com/${typeUrl}`, value });

const exchange = {
  name: exchangeName,
  typedConfig: untyped("envoy.tcp.metadataexchange.config.MetadataExchange", {
    enable_discovery: true,
    protocol: "istio-peer-exchange",
  }),
} as const;

const none = [] as const;

/** Exchanges metadata over connections that are not HTTP: first in chains that take them. */
export const networkExchange = ({ build }: Pick<ClassProxy, "build">): readonly FilterJson[] =>
  build === "istio" ? networkExchanges : none;

const networkExchanges: readonly FilterJson[] = [exchange];

/** The same at the other end, in clusters of services. */
export const clusterExchange = (build: ClassProxy["build"]): { readonly filters?: ClusterFilterJson[] } =>
  build === "istio" ? { filters: [exchange] } : {};

const peerMetadata = (config: object): HttpFilterJson => ({
  name: exchangeName,
  typedConfig: untyped("io.istio.http.peer_metadata.Config", config),
});

const discovery = [{ istio_headers: {} }, { workload_discovery: {} }] as const;

const inboundPeer = peerMetadata({
  downstream_discovery: discovery,
  downstream_propagation: [{ istio_headers: {} }],
});

const outboundPeer = peerMetadata({ upstream_discovery: discovery, upstream_propagation: [{ istio_headers: {} }] });

const inMeshPeer = peerMetadata({
  upstream_discovery: discovery,
  upstream_propagation: [{ istio_headers: { skip_external_clusters: true } }],
});

/**
 * Exchanges metadata by headers: first of all HTTP filters, so that what refuses a request knows whose it is.
 *
 * @param isHttpProxy at the mesh's explicit proxy no setting keeps the headers within the mesh
 */
export function httpExchange(
  { build, proxyConfig }: Pick<ClassProxy, "build" | "proxyConfig">,
  listenerClass: ListenerClass,
  isHttpProxy: boolean,
): readonly HttpFilterJson[] {
  if (build !== "istio") return none;
  if (listenerClass === "inbound") return [inboundPeer];
  const staysInMesh = proxyConfig.proxyHeaders?.metadataExchangeHeaders?.mode === "IN_MESH" && !isHttpProxy;
  return [staysInMesh ? inMeshPeer : outboundPeer];
}

const alpnConfig: FilterConfigJson = {
  alpnOverride: [
    // The first protocol is the default of its enum, which canonical JSON leaves out.
    { alpnOverride: ["istio-http/1.0", "istio", "http/1.0"] },
    { upstreamProtocol: "HTTP11", alpnOverride: ["istio-http/1.1", "istio", "http/1.1"] },
    { upstreamProtocol: "HTTP2", alpnOverride: ["istio-h2", "istio", "h2"] },
  ],
};

const alpn: HttpFilterJson = {
  name: "istio.alpn",
  typedConfig: packAny("istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig", alpnConfig),
};

/** Lets the receiving proxy see from the handshake that a request is HTTP, whatever it knows of the port. */
export const alpnOverride = (
  { build }: Pick<ClassProxy, "build">,
  listenerClass: ListenerClass,
): readonly HttpFilterJson[] => (build !== "istio" || listenerClass === "inbound" ? none : [alpn]);
