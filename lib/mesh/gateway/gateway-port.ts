import { inCodePointOrder } from "../../base/diagnostic.ts";
import type { Server } from "../../config/kinds/gateway.ts";

const httpProtocols: ReadonlySet<string> = new Set(["HTTP", "HTTP2", "GRPC", "GRPC-WEB"]);

/** HTTP, HTTP2 or gRPC in plain text, whatever the case it is written in. */
export const isHttpProtocol = (protocol: string): boolean => httpProtocols.has(protocol.toUpperCase());

/** Does the server hand TLS on instead of ending it? TLS settings without mode pass it through. */
function isPassthrough(server: Server): boolean {
  const mode = server.tls === undefined ? undefined : (server.tls.mode ?? "PASSTHROUGH");
  return mode === "PASSTHROUGH" || mode === "AUTO_PASSTHROUGH";
}

/** Is the port taken by TLS, told apart by SNI? An HTTP port with TLS settings only redirects. */
export const isTlsServer = (server: Server): boolean =>
  server.tls !== undefined && !isHttpProtocol(server.port.protocol);

/** Has the server routes of its own: plain HTTP, or HTTPS that is not passed through, even if it says nothing of TLS? */
export function isHttpServer(server: Server): boolean {
  const { protocol } = server.port;
  return isHttpProtocol(protocol) || (protocol.toUpperCase() === "HTTPS" && !isPassthrough(server));
}

/**
 * Route table of a server: `http.<workload port>` shared by all plain HTTP servers of the port, or
 * `https.<declared port>.<port name>.<gateway>.<namespace>`, each followed by `.<bind>` if there is one; "" for other protocols.
 * @see docs/how-istio-does-it/gateways.md#route-names
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

/** What a route name tells of its servers; 0 and "" for what it does not. */
export interface GatewayRouteName {
  readonly port: number;
  readonly portName: string;
  /** `namespace/name`. */
  readonly gateway: string;
}

/** Reads `gatewayRouteName` back. A bind, and a dot in the name of a Gateway or port, hide the rest, as in Istio. */
export function parseGatewayRouteName(routeName: string): GatewayRouteName {
  const [scheme, port = "", portName = "", name = "", namespace = "", ...more] = routeName.split(".");
  const number = /^\d+$/.test(port) ? Number(port) : 0;
  if (scheme === "http" && routeName === `http.${port}`) return { port: number, portName: "", gateway: "" };
  if (scheme === "https" && namespace !== "" && more.length === 0) {
    return { port: number, portName, gateway: `${namespace}/${name}` };
  }
  return { port: 0, portName: "", gateway: "" };
}

/** `./h` → `<namespace>/h`, `*\/h` → `h`; a `*\/*` among them makes the whole list `*`. */
export function sanitisedHosts(hosts: readonly string[], namespace: string): readonly string[] {
  if (hosts.includes("*/*")) return ["*"];
  if (!hosts.some((host) => host.startsWith("./") || host.startsWith("*/"))) return hosts;
  return hosts.map((host) => {
    if (host.startsWith("./")) return `${namespace}${host.slice(1)}`;
    return host.startsWith("*/") ? host.slice(2) : host;
  });
}

const bareHost = (host: string): string => host.slice(host.indexOf("/") + 1);

/** What a server with TLS is told apart by: hosts without their namespace, unique and sorted. */
export function sniHostsOf(hosts: readonly string[]): readonly string[] {
  const bare = inCodePointOrder(hosts.map(bareHost));
  return bare.filter((host, at) => at === 0 || host !== bare[at - 1]);
}
