import type { Protocol } from "../registry/service.ts";
import type { LegacyPort } from "./legacy-world.ts";

/** `external-<PROTOCOL>-<port>`: the port of an egress rule in names of clusters. */
export function egressPort(port: number, protocol: string): LegacyPort {
  const known = protocolOf(protocol);
  return { name: `external-${known}-${port}`, port, protocol: known, authenticationPolicy: "INHERIT" };
}

function protocolOf(text: string): Protocol {
  switch (text.toUpperCase()) {
    case "HTTP":
      return "HTTP";
    case "HTTP2":
      return "HTTP2";
    case "GRPC":
      return "GRPC";
    case "HTTPS":
      return "HTTPS";
    case "MONGO":
      return "Mongo";
    case "REDIS":
      return "Redis";
    default:
      return "TCP";
  }
}
