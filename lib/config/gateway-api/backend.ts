import type { BackendTLSPolicy } from "./backend-policy.ts";
import type { SessionPersistence } from "./http-route.ts";
import type { SecretReference } from "./reference.ts";

/** `gateway.networking.x-k8s.io` XBackend: a destination of routes, with how it is called. */
export interface KubernetesBackend {
  readonly type: "ExternalHostname" | "EndpointSelector";
  readonly externalHostname?: { readonly hostname: string };
  /** From 1.7 on. Pods of the namespace. */
  readonly endpointSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  /** `port` until 1.6, `number` from 1.7 on. */
  readonly port: { readonly port?: number; readonly name?: string; readonly number?: number };
  readonly protocol?: (typeof backendProtocols)[number];
  readonly tls: {
    readonly mode: "None" | "ServerOnly" | "ClientAndServer";
    readonly clientCertificateRef?: SecretReference;
    readonly validation?: BackendTLSPolicy["validation"];
  };
  /** Of endpoints that are selected. */
  readonly sessionPersistence?: SessionPersistence;
}

export const backendProtocols = ["TCP", "HTTP", "HTTP2", "HTTP11", "H2C", "MCP", "GRPC", "WSS"] as const;

/** The port that is called; a rule refuses a backend without one. */
export const portOfBackend = ({ port }: KubernetesBackend): number => port.number ?? port.port ?? 0;

/**
 * The host by which the destination is known in the mesh. That of selected endpoints is a name that nobody can write into an object
 * or look up: `orders~shop.xbackend.invalid`.
 */
export function hostOfBackend(
  { externalHostname }: KubernetesBackend,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): string {
  return externalHostname?.hostname ?? `${name}~${namespace}.xbackend.invalid`;
}
