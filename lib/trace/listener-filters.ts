import type { ListenerFilterChainMatchPredicateJson } from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { TracedRequest } from "./traced-request.ts";
import { isOfMessage } from "./typed-config.ts";

/** What the listeners' filters find out of a connection before a filter chain is chosen. */
export interface Inspected {
  /** In lower case; "" for none. */
  readonly serverName: string;
  readonly transportProtocol: "tls" | "raw_buffer";
  readonly applicationProtocols: readonly string[];
}

/** @see envoy 1.40.0 source/extensions/filters/listener/tls_inspector */
export function inspect(through: readonly ListenerJson[], { destination, tls, http }: TracedRequest): Inspected {
  const active = through
    .flatMap(({ listenerFilters = [] }) => listenerFilters)
    .filter(({ filterDisabled }) => filterDisabled === undefined || !isMatched(filterDisabled, destination.port))
    .map(({ typedConfig }) => typedConfig);
  const has = (message: string) =>
    active.some((config) => isOfMessage(config, `envoy.extensions.filters.listener.${message}`));
  if (tls !== undefined && has("tls_inspector.v3.TlsInspector")) {
    const { serverName, applicationProtocols } = tls;
    return { serverName: serverName.toLowerCase(), transportProtocol: "tls", applicationProtocols };
  }
  const isSeen = tls === undefined && http !== undefined && has("http_inspector.v3.HttpInspector");
  const applicationProtocols = isSeen ? [http.isHttp2 ? "h2c" : "http/1.1"] : [];
  return { serverName: "", transportProtocol: "raw_buffer", applicationProtocols };
}

function isMatched(predicate: ListenerFilterChainMatchPredicateJson, port: number): boolean {
  const { orMatch, andMatch, notMatch, anyMatch, destinationPortRange: range } = predicate;
  if (orMatch !== undefined) return (orMatch.rules ?? []).some((rule) => isMatched(rule, port));
  if (andMatch !== undefined) return (andMatch.rules ?? []).every((rule) => isMatched(rule, port));
  if (notMatch !== undefined) return !isMatched(notMatch, port);
  if (range !== undefined) return port >= (range.start ?? 0) && port < (range.end ?? 0);
  return anyMatch === true;
}
