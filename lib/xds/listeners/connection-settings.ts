import type { HttpProtocolOptionsJson } from "../../../gen/envoy/config/core/v3/protocol_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { HttpConnectionManagerJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { ConnectionSettings } from "../../config/kinds/mesh-proxy-config.ts";
import type { ListenerContext } from "./listener-context.ts";

/** What the profile EDGE says for gateways, under what is stated; the time for headers is Istio's, and in no text of its API. */
const edge = {
  listenerPerConnectionBufferLimitBytes: 32_768,
  httpIdleTimeout: "3600s",
  httpStreamIdleTimeout: "300s",
  httpRequestTimeout: "300s",
  httpRequestHeadersTimeout: "60s",
  httpMaxConcurrentStreams: 100,
  http2InitialStreamWindowSize: 65_536,
  http2InitialConnectionWindowSize: 1_048_576,
  httpHeadersWithUnderscoresAction: "HEADERS_WITH_UNDERSCORES_REJECT_REQUEST",
  httpMergeSlashes: true,
  httpPathWithEscapedSlashesAction: "UNESCAPE_AND_REDIRECT",
} as const satisfies ConnectionSettings;

type Settled = Pick<ListenerContext, "mesh" | "proxy">;

/** The proxy's own settings, of which not one is taken from the mesh's; the mesh's where it has none. */
function settingsOf({ mesh, proxy }: Settled): ConnectionSettings | undefined {
  const settings = proxy.proxyConfig.connectionSettings ?? mesh.defaultConfig.connectionSettings;
  if (settings?.profile !== "EDGE" || proxy.type !== "router") return settings;
  const { httpHeadersWithUnderscoresAction: headers, httpPathWithEscapedSlashesAction: slashes } = settings;
  const { httpHeadersWithUnderscoresAction, httpPathWithEscapedSlashesAction } = edge;
  return {
    ...edge,
    ...settings,
    // The word for none of the actions is no statement.
    ...(headers === "HEADERS_WITH_UNDERSCORES_UNSPECIFIED" ? { httpHeadersWithUnderscoresAction } : {}),
    ...(slashes === "PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED" ? { httpPathWithEscapedSlashesAction } : {}),
  };
}

/** How much a gateway's listener holds back of a connection. */
export function bufferLimit(context: Settled): Pick<ListenerJson, "perConnectionBufferLimitBytes"> {
  const bytes = settingsOf(context)?.listenerPerConnectionBufferLimitBytes;
  return bytes === undefined ? {} : { perConnectionBufferLimitBytes: bytes };
}

/**
 * Puts limits and times of connections into a connection manager, over what stands there.
 *
 * @param config changed in place
 */
export function limitConnections(config: HttpConnectionManagerJson, context: Settled): void {
  const settings = settingsOf(context);
  if (settings === undefined) return;
  const common = commonOptions(settings);
  if (common !== undefined) config.commonHttpProtocolOptions = { ...config.commonHttpProtocolOptions, ...common };
  const streams = {
    ...present("maxConcurrentStreams", settings.httpMaxConcurrentStreams),
    ...present("initialStreamWindowSize", settings.http2InitialStreamWindowSize),
    ...present("initialConnectionWindowSize", settings.http2InitialConnectionWindowSize),
  };
  if (Object.keys(streams).length > 0) config.http2ProtocolOptions = { ...config.http2ProtocolOptions, ...streams };
  Object.assign(
    config,
    present("streamIdleTimeout", settings.httpStreamIdleTimeout),
    present("requestTimeout", settings.httpRequestTimeout),
    present("requestHeadersTimeout", settings.httpRequestHeadersTimeout),
    present("drainTimeout", settings.httpDrainTimeout),
  );
  const { httpPathWithEscapedSlashesAction: slashes = "PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED" } = settings;
  if (slashes !== "PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED") config.pathWithEscapedSlashesAction = slashes;
  if (settings.httpMergeSlashes === true) config.mergeSlashes = true;
  else if (settings.httpMergeSlashes === false) delete config.mergeSlashes;
}

/** Undefined where nothing of them is stated. */
function commonOptions(settings: ConnectionSettings): HttpProtocolOptionsJson | undefined {
  const { httpHeadersWithUnderscoresAction: action = "HEADERS_WITH_UNDERSCORES_UNSPECIFIED" } = settings;
  const times = {
    ...present("idleTimeout", settings.httpIdleTimeout),
    ...present("maxConnectionDuration", settings.httpMaxConnectionDuration),
    ...present("maxStreamDuration", settings.httpMaxStreamDuration),
  };
  if (action === "HEADERS_WITH_UNDERSCORES_UNSPECIFIED") return Object.keys(times).length === 0 ? undefined : times;
  const ofEnvoy = underscoreActions[action];
  return ofEnvoy === undefined ? times : { ...times, headersWithUnderscoresAction: ofEnvoy };
}

type UnderscoreAction = Exclude<
  NonNullable<ConnectionSettings["httpHeadersWithUnderscoresAction"]>,
  "HEADERS_WITH_UNDERSCORES_UNSPECIFIED"
>;

/** To let them pass is what Envoy does by itself. */
const underscoreActions: Readonly<
  Record<UnderscoreAction, HttpProtocolOptionsJson["headersWithUnderscoresAction"] | undefined>
> = {
  HEADERS_WITH_UNDERSCORES_ALLOW: undefined,
  HEADERS_WITH_UNDERSCORES_REJECT_REQUEST: "REJECT_REQUEST",
  HEADERS_WITH_UNDERSCORES_DROP_HEADER: "DROP_HEADER",
};

const present = <Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } =>
  // The one member has this name.
  value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]: Value });
