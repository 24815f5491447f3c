const http: ReadonlySet<string> = new Set(["http", "http2", "http_proxy", "grpc", "grpc-web"]);
const tls: ReadonlySet<string> = new Set(["https", "tls"]);
const tcp: ReadonlySet<string> = new Set(["tcp", "https", "tls", "mongo", "redis", "mysql"]);
const others: readonly string[] = ["udp", "hbone", "doublehbone"];
const known: ReadonlySet<string> = new Set([...http, ...tls, ...tcp, ...others]);

/**
 * Names of protocols, in any case; the empty name means "sniff it".
 * @see docs/how-istio-does-it/services.md#protocols-of-ports
 */
export function isKnownProtocol(name: string): boolean {
  return known.has(name.toLowerCase());
}

export function isHttpProtocol(name: string): boolean {
  return http.has(name.toLowerCase());
}

/** HTTPS and TLS. */
export function isTlsProtocol(name: string): boolean {
  return tls.has(name.toLowerCase());
}
