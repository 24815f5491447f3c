import type { Protocol } from "./service.ts";

const byText: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ["tcp", "TCP"],
  ["udp", "UDP"],
  ["grpc", "GRPC"],
  ["grpc-web", "GRPC-Web"],
  ["http", "HTTP"],
  ["http_proxy", "HTTP_PROXY"],
  ["http2", "HTTP2"],
  ["https", "HTTPS"],
  ["tls", "TLS"],
  ["mongo", "Mongo"],
  ["redis", "Redis"],
  ["mysql", "MySQL"],
]);

/** SMTP, DNS, MySQL, MongoDB: the server speaks first, so sniffing would hang. */
const serverFirstPorts: ReadonlySet<number> = new Set([25, 53, 3306, 27017]);

/** Values of `appProtocol` that Kubernetes itself defines. */
const kubernetesAppProtocols: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ["kubernetes.io/h2c", "HTTP2"],
  ["kubernetes.io/ws", "HTTP"],
  ["kubernetes.io/wss", "HTTPS"],
]);

/** The protocol a text names, in any case; `Unsupported` (to be sniffed) for anything else, empty included. */
export function parseProtocol(text: string): Protocol {
  return byText.get(text.toLowerCase()) ?? "Unsupported";
}

/** What Kubernetes says of a port. */
export interface KubernetesPort {
  /** Layer 4: `TCP`, `UDP`, `SCTP`. */
  readonly transport: string;
  readonly name: string;
  /** `appProtocol`; beats the name where it is there, known or not. */
  readonly appProtocol: string | undefined;
  readonly port: number;
}

/**
 * Protocol of a Kubernetes service port: transport UDP first, then `appProtocol`, else the port name up to its first
 * dash; what stays unknown is TCP on ports whose servers speak first and `Unsupported` elsewhere.
 * @see docs/how-istio-does-it/services.md#protocols-of-ports
 */
export function kubernetesPortProtocol(port: KubernetesPort): Protocol {
  if (port.transport === "UDP") return "UDP";
  const wellKnown = port.appProtocol === undefined ? undefined : kubernetesAppProtocols.get(port.appProtocol);
  if (wellKnown !== undefined) return wellKnown;
  const name = (port.appProtocol ?? port.name).toLowerCase();
  // The dash of grpc-web is no separator, so it is looked for before the name is cut.
  if (name.startsWith("grpc-web")) return "GRPC-Web";
  const dash = name.indexOf("-");
  const protocol = parseProtocol(dash < 0 ? name : name.slice(0, dash));
  return protocol === "Unsupported" && serverFirstPorts.has(port.port) ? "TCP" : protocol;
}

/** HTTP/2 without TLS, whatever rides on it. */
export function isHttp2(protocol: Protocol): boolean {
  return protocol === "HTTP2" || protocol === "GRPC" || protocol === "GRPC-Web";
}

/** HTTP without TLS, of any version. */
export function isHttp(protocol: Protocol): boolean {
  return protocol === "HTTP" || protocol === "HTTP_PROXY" || isHttp2(protocol);
}
