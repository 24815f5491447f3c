import type { ClientTLSSettings, TrafficPolicy } from "../../config/kinds/destination-rule.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { MutualTlsMode } from "../../mesh/views/views.ts";
import type { Endpoint, Service, ServicePort } from "../../registry/service.ts";

/** How a client secures connections to a cluster. */
export interface UpstreamTls {
  readonly settings: ClientTLSSettings;
  /** Nobody asked for it: each endpoint decides whether it is used. */
  readonly automatic: boolean;
}

/** What the decision is made from. */
export interface UpstreamTlsInput {
  /** `tls` of the effective policy. */
  readonly stated: ClientTLSSettings | undefined;
  readonly meshExternal: boolean;
  /** SPIFFE identities that may answer. */
  readonly accounts: readonly string[];
  /** SNI of mesh mTLS; empty: none. */
  readonly sni: string;
  /** Automatic mTLS is on and the service looks as if it took it. */
  readonly infersMtls: boolean;
  /** `TLS_CLIENT_*` metadata of the proxy. */
  readonly clientFiles: Readonly<Record<string, string>>;
}

/** @see docs/how-istio-does-it/clusters.md#tls-settings-that-apply */
export function upstreamTls(input: UpstreamTlsInput): UpstreamTls | undefined {
  const { stated, clientFiles } = input;
  const hasFiles = (clientFiles.TLS_CLIENT_CERT_CHAIN ?? "") !== "";
  if (stated === undefined) {
    if (input.meshExternal || !input.infersMtls) return undefined;
    const inferred = { sni: input.sni, subjectAltNames: input.accounts };
    if (hasFiles) return { settings: { ...inferred, ...fileSettings(clientFiles) }, automatic: true };
    return { settings: { mode: "ISTIO_MUTUAL", ...inferred }, automatic: true };
  }
  const mode = stated.mode ?? "DISABLE";
  if (mode === "DISABLE" || mode === "SIMPLE") return { settings: stated, automatic: false };
  const names = stated.subjectAltNames ?? [];
  const unchecked = stated.insecureSkipVerify === true ? { insecureSkipVerify: true } : {};
  if (hasFiles && !input.meshExternal) {
    const asked = { sni: stated.sni ?? "", subjectAltNames: names };
    return { settings: { ...asked, ...unchecked, ...fileSettings(clientFiles) }, automatic: false };
  }
  if (mode === "MUTUAL") return { settings: stated, automatic: false };
  const sni = (stated.sni ?? "") === "" ? input.sni : (stated.sni ?? "");
  return {
    settings: { mode, sni, subjectAltNames: names.length === 0 ? input.accounts : names, ...unchecked },
    automatic: false,
  };
}

/** A proxy that was given certificate files uses them in place of the mesh's own secrets. */
function fileSettings(files: Readonly<Record<string, string>>): ClientTLSSettings {
  return {
    mode: "MUTUAL",
    clientCertificate: files.TLS_CLIENT_CERT_CHAIN ?? "",
    privateKey: files.TLS_CLIENT_KEY ?? "",
    caCertificates: files.TLS_CLIENT_ROOT_CERT ?? "",
  };
}

/** A service's port as clients see it. */
export interface GuessedPort {
  readonly service: Service;
  readonly port: ServicePort;
  /** What policies of namespace and mesh say about the port; undefined: nothing. */
  readonly mtlsMode: MutualTlsMode | undefined;
  /** Of the service; asked only where the clients go where they were going. */
  readonly seen: { readonly endpoints: readonly Endpoint[] };
}

/**
 * A client's guess whether a service takes mTLS. It knows namespace and mesh policies only: a policy for single
 * workloads shows in the metadata of their endpoints. Where the client connects to whatever address the caller had,
 * nothing can be chosen per endpoint, so all of them must take it.
 *
 * @param policy of the host for its own cluster, of the subset for a subset's
 * @see docs/how-istio-does-it/security.md#what-clients-guess
 */
export function infersMtls(
  { enableAutoMtls }: MeshConfig,
  { service, port, mtlsMode, seen }: GuessedPort,
  policy: TrafficPolicy | undefined,
): boolean {
  if (!enableAutoMtls || service.meshExternal) return false;
  if (service.resolution === "Passthrough" || policy?.loadBalancer?.simple === "PASSTHROUGH") {
    const endpoints = seen.endpoints.filter((endpoint) => endpoint.servicePortName === port.name);
    if (endpoints.length === 0 || endpoints.some((endpoint) => endpoint.tlsMode === "disabled")) return false;
  }
  return mtlsMode !== "DISABLE";
}
