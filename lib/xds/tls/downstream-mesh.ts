import type { SdsSecretConfigJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import type { DownstreamTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import { fileCertificateName, fileRootCaName, workloadCertificate, workloadRootCa } from "../names.ts";
import { compliantTls } from "./compliance.ts";
import { httpAlpns, tcpMeshAlpns } from "./downstream-socket.ts";
import { fileSecret, identitySecret } from "./sds-secret.ts";

/** Ciphers of mesh mTLS where the mesh names none. */
const meshCiphers = [
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "AES256-GCM-SHA384",
  "AES128-GCM-SHA256",
] as const;

/** Files that the node's metadata names in place of the workload's own identity: `TLS_SERVER_*`. */
export type ServerFiles = Readonly<Record<string, string>>;

/**
 * Mutual TLS between workloads of the mesh, server side.
 * @param carries what the chain does with the stream: TCP chains also offer Istio's metadata exchange
 * @see docs/how-istio-does-it/listeners.md#mesh-tls-of-listeners
 */
export function meshDownstreamContext(
  mesh: MeshSettings,
  files: ServerFiles,
  carries: "http" | "tcp",
): DownstreamTlsContextJson {
  const ciphers = mesh.meshMTLS?.cipherSuites ?? meshCiphers;
  const prefixes = trustDomains(mesh).map((domain) => ({ prefix: `spiffe://${domain}/` }));
  return {
    requireClientCertificate: true,
    commonTlsContext: compliantTls(
      {
        tlsParams: {
          tlsMinimumProtocolVersion: mesh.meshMTLS?.minProtocolVersion === "TLSV1_3" ? "TLSv1_3" : "TLSv1_2",
          tlsMaximumProtocolVersion: "TLSv1_3",
          ...(ciphers.length === 0 ? {} : { cipherSuites: [...ciphers] }),
        },
        alpnProtocols: [...(carries === "tcp" ? tcpMeshAlpns : httpAlpns)],
        tlsCertificateSdsSecretConfigs: [serverCertificate(files)],
        combinedValidationContext: {
          defaultValidationContext: prefixes.length === 0 ? {} : { matchSubjectAltNames: prefixes },
          validationContextSdsSecretConfig: rootCertificate(files),
        },
      },
      mesh,
    ),
  };
}

/** Trust domains whose workloads are let in: the mesh's own, its aliases, and those of foreign certificates. */
function trustDomains(mesh: MeshSettings): readonly string[] {
  const foreign = mesh.caCertificates.flatMap((certificate) => certificate.trustDomains ?? []);
  return [...new Set([mesh.trustDomain, ...mesh.trustDomainAliases, ...foreign])];
}

/** The certificate that a workload shows to the mesh; half a key pair in the files counts as none. */
export function serverCertificate(files: ServerFiles): SdsSecretConfigJson {
  const certificate = files.TLS_SERVER_CERT_CHAIN ?? "";
  const key = files.TLS_SERVER_KEY ?? "";
  return certificate === "" || key === ""
    ? identitySecret(workloadCertificate)
    : fileSecret(fileCertificateName(certificate, key));
}

/** What a workload checks certificates of the mesh against. */
export function rootCertificate(files: ServerFiles): SdsSecretConfigJson {
  const file = files.TLS_SERVER_ROOT_CERT ?? "";
  return file === "" ? identitySecret(workloadRootCa) : fileSecret(fileRootCaName(file));
}
