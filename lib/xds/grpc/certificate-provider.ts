import type { TransportSocketJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type {
  CommonTlsContextJson,
  DownstreamTlsContextJson,
  UpstreamTlsContextJson,
} from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import { packAny } from "../core-messages.ts";
import { workloadCertificate, workloadRootCa } from "../names.ts";

/** The provider that bootstraps define, those of Istio's agent too. */
export const instanceName = "default";

/**
 * Mutual TLS as a gRPC program takes it: it knows no SDS, and asks a provider of its bootstrap for certificates. They are named in the fields
 * of today and in those that older programs read.
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/grpcgen.go, buildCommonTLSContext
 */
function commonContext(names: readonly string[]): CommonTlsContextJson {
  const certificate = { instanceName, certificateName: workloadCertificate };
  const authority = { instanceName, certificateName: workloadRootCa };
  return {
    tlsCertificateProviderInstance: certificate,
    tlsCertificateCertificateProviderInstance: certificate,
    combinedValidationContext: {
      defaultValidationContext: {
        ...(names.length === 0 ? {} : { matchSubjectAltNames: names.map((exact) => ({ exact })) }),
        caCertificateProviderInstance: authority,
      },
      validationContextCertificateProviderInstance: authority,
    },
  };
}

/** Programs insist on this name. */
const socketName = "envoy.transport_sockets.tls";
const tlsPackage = "envoy.extensions.transport_sockets.tls.v3";

/** @param accounts SPIFFE names of those who may answer; none: whoever the authority has certified */
export function upstreamTls(accounts: readonly string[]): TransportSocketJson {
  const context: UpstreamTlsContextJson = { commonTlsContext: commonContext(accounts) };
  return { name: socketName, typedConfig: packAny(`${tlsPackage}.UpstreamTlsContext`, context) };
}

/** Whom a server lets in is said by policies, not here. */
export function downstreamTls(): TransportSocketJson {
  const context: DownstreamTlsContextJson = { commonTlsContext: commonContext([]), requireClientCertificate: true };
  return { name: socketName, typedConfig: packAny(`${tlsPackage}.DownstreamTlsContext`, context) };
}
