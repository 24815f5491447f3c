import type { Server } from "../config/kinds/gateway.ts";

const httpProtocols: ReadonlySet<string> = new Set(["HTTP", "HTTP2", "GRPC", "GRPC-WEB"]);

/** HTTP, HTTP2 or gRPC in plain text, whatever the case it is written in. */
export const isHttpProtocol = (protocol: string): boolean => httpProtocols.has(protocol.toUpperCase());

/** Does the server hand TLS on instead of ending it? TLS settings without mode pass it through. */
export function isPassthrough(server: Server): boolean {
  const mode = server.tls === undefined ? undefined : (server.tls.mode ?? "PASSTHROUGH");
  return mode === "PASSTHROUGH" || mode === "AUTO_PASSTHROUGH";
}

/** Is the port taken by TLS, told apart by SNI? An HTTP port with TLS settings only redirects. */
export const isTlsServer = (server: Server): boolean =>
  server.tls !== undefined && !isHttpProtocol(server.port.protocol);

/** HTTPS whose TLS ends here. */
export const endsHttps = (server: Server): boolean =>
  server.tls !== undefined && server.port.protocol.toUpperCase() === "HTTPS" && !isPassthrough(server);

/** Has the server routes of its own: plain HTTP, or HTTPS that ends here? */
export const isHttpServer = (server: Server): boolean => isHttpProtocol(server.port.protocol) || endsHttps(server);

/**
 * Route table of a server: `http.<workload port>` shared by all plain HTTP servers of the port, or
 * `https.<declared port>.<port name>.<gateway>.<namespace>`, each followed by `.<bind>` if there is one; "" for other protocols.
 * @see model-push 7.4
 */
export function gatewayRouteName(server: Server, workloadPort: number, gatewayName: string, namespace: string): string {
  const bind = server.bind === undefined || server.bind === "" ? "" : `.${server.bind}`;
  const { protocol, number, name } = server.port;
  if (isHttpProtocol(protocol)) return `http.${workloadPort}${bind}`;
  if (protocol.toUpperCase() === "HTTPS" && !isPassthrough(server)) {
    return `https.${number}.${name}.${gatewayName}.${namespace}${bind}`;
  }
  return "";
}

/** `./h` → `<namespace>/h`, `*\/h` → `h`; a `*\/*` among them makes the whole list `*`. */
export function sanitisedHosts(hosts: readonly string[], namespace: string): readonly string[] {
  if (hosts.includes("*/*")) return ["*"];
  return hosts.map((host) => {
    if (host.startsWith("./")) return `${namespace}${host.slice(1)}`;
    return host.startsWith("*/") ? host.slice(2) : host;
  });
}

/** Hosts without their namespace, unique and sorted. */
export function sniHostsOf(hosts: readonly string[]): readonly string[] {
  return [...new Set(hosts.map((host) => host.slice(host.indexOf("/") + 1)))].sort();
}
