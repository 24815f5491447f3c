import type {
  CertificateValidationContextJson,
  TlsParameters_TlsProtocolJson,
  TlsParametersJson,
} from "../../../gen/envoy/extensions/transport_sockets/tls/v3/common_pb.ts";
import type { SdsSecretConfigJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import type {
  CommonTlsContextJson,
  DownstreamTlsContextJson,
} from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { ServerTLSSettings, TLSProtocol } from "../../config/kinds/gateway.ts";
import { isCipherSuite } from "../../config/rules/tls/server-tls.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import { caOfCredential, fileCertificateName, fileRootCaName, workloadCertificate, workloadRootCa } from "../names.ts";
import type { ProviderCluster } from "../telemetry/provider-cluster.ts";
import { compliantTls } from "./compliance.ts";
import { serverCredential } from "./downstream-credential.ts";
import { rootCertificate, type ServerFiles, serverCertificate } from "./downstream-mesh.ts";
import { httpAlpns, tcpMeshAlpns } from "./downstream-socket.ts";
import { fileSecret, identitySecret } from "./sds-secret.ts";

/** What ending TLS depends on beside the server. */
export interface TlsSide {
  readonly mesh: MeshSettings;
  /** The mesh's SDS provider, if it has one. */
  readonly secretServer: ProviderCluster | undefined;
  /** Of the proxy: they stand for its identity in the mesh, and so in ISTIO_MUTUAL. */
  readonly files: ServerFiles;
}

/**
 * TLS as a Gateway's server (or a Sidecar's ingress listener) states it, server side.
 *
 * @param carries what the chain does with the stream once TLS has ended
 * @see docs/how-istio-does-it/listeners.md#tls-of-servers
 */
export function serverDownstreamContext(
  settings: ServerTLSSettings,
  side: TlsSide,
  carries: "http" | "tcp",
): DownstreamTlsContextJson {
  const meshMutual = settings.mode === "ISTIO_MUTUAL";
  const requires = settings.mode === "MUTUAL" || meshMutual;
  const validates = requires || settings.mode === "OPTIONAL_MUTUAL";
  const params = meshMutual ? {} : tlsParameters(settings, side.mesh);
  const offered = nonEmpty(settings.alpnProtocols) ?? (meshMutual && carries === "tcp" ? tcpMeshAlpns : httpAlpns);
  return {
    // OPTIONAL_MUTUAL checks a certificate and does not insist on one.
    requireClientCertificate: requires,
    commonTlsContext: compliantTls(
      {
        alpnProtocols: [...offered],
        ...secrets(settings, validates, side),
        ...(Object.keys(params).length === 0 ? {} : { tlsParams: params }),
      },
      side.mesh,
    ),
  };
}

function secrets(
  settings: ServerTLSSettings,
  validates: boolean,
  { files, secretServer, mesh }: TlsSide,
): CommonTlsContextJson {
  if (settings.mode === "ISTIO_MUTUAL") {
    return {
      tlsCertificateSdsSecretConfigs: [serverCertificate(files)],
      ...validation(validates, settings, rootCertificate(files)),
    };
  }
  const names = credentialNames(settings);
  return names.length > 0
    ? credentialSecrets(settings, names, validates, { secretServer, mesh })
    : fileSecrets(settings, validates);
}

function credentialNames({
  credentialNames: many = [],
  credentialName: one = "",
}: ServerTLSSettings): readonly string[] {
  return many.length > 0 ? many : one === "" ? [] : [one];
}

function credentialSecrets(
  settings: ServerTLSSettings,
  names: readonly string[],
  validates: boolean,
  side: Pick<TlsSide, "secretServer" | "mesh">,
): CommonTlsContextJson {
  const { caCertCredentialName: explicit = "", subjectAltNames: sans = [] } = settings;
  // One CA for all key pairs: the one that belongs to the first. Without one no names are checked, as with files; Istio
  // writes them all the same, and Envoy refuses the listener.
  const ca = serverCredential(explicit === "" ? caOfCredential(names[0] ?? "") : explicit, side);
  return {
    tlsCertificateSdsSecretConfigs: names.map((name) => serverCredential(name, side)),
    ...(validates
      ? {
          combinedValidationContext: {
            defaultValidationContext: {
              ...subjectNames(sans),
              ...listed("verifyCertificateSpki", settings.verifyCertificateSpki),
              ...listed("verifyCertificateHash", settings.verifyCertificateHash),
              ...chainVerification(settings),
            },
            validationContextSdsSecretConfig: ca,
          },
        }
      : {}),
  };
}

function fileSecrets(settings: ServerTLSSettings, validates: boolean): CommonTlsContextJson {
  const { serverCertificate = "", privateKey = "", caCertificates = "", tlsCertificates = [] } = settings;
  const pairs = tlsCertificates.length > 0 ? tlsCertificates : [{ serverCertificate, privateKey }];
  return {
    tlsCertificateSdsSecretConfigs: pairs.map((pair) =>
      certificateFile(pair.serverCertificate ?? "", pair.privateKey ?? ""),
    ),
    ...validation(
      validates,
      settings,
      caCertificates === "" ? identitySecret(workloadRootCa) : fileSecret(fileRootCaName(caCertificates)),
    ),
  };
}

/** Half a key pair counts as none: the workload's own identity stands in. */
function certificateFile(certificate: string, key: string): SdsSecretConfigJson {
  return certificate === "" || key === ""
    ? identitySecret(workloadCertificate)
    : fileSecret(fileCertificateName(certificate, key));
}

function validation(validates: boolean, settings: ServerTLSSettings, ca: SdsSecretConfigJson): CommonTlsContextJson {
  if (!validates) return {};
  const { subjectAltNames = [], caCrl = "" } = settings;
  return {
    combinedValidationContext: {
      defaultValidationContext: {
        ...subjectNames(subjectAltNames),
        ...(caCrl === "" ? {} : { crl: { filename: caCrl } }),
        ...chainVerification(settings),
      },
      validationContextSdsSecretConfig: ca,
    },
  };
}

/** A client's certificate that no root vouches for is let through, where the server says so. */
function chainVerification({ insecureSkipVerify }: ServerTLSSettings): CertificateValidationContextJson {
  return insecureSkipVerify === true ? { trustChainVerification: "ACCEPT_UNTRUSTED" } : {};
}

function subjectNames(names: readonly string[]): CertificateValidationContextJson {
  return names.length === 0 ? {} : { matchSubjectAltNames: names.map((exact) => ({ exact })) };
}

function listed<K extends "verifyCertificateSpki" | "verifyCertificateHash">(
  key: K,
  values: readonly string[] = [],
): CertificateValidationContextJson {
  return values.length === 0 ? {} : { [key]: [...values] };
}

/** The mesh's defaults under the server's own. Absent where neither says anything: Envoy's defaults hold. */
function tlsParameters(settings: ServerTLSSettings, { tlsDefaults }: MeshSettings): TlsParametersJson {
  const ciphers = nonEmpty(knownCiphers(settings)) ?? nonEmpty(tlsDefaults?.cipherSuites);
  const curves = nonEmpty(settings.ecdhCurves) ?? nonEmpty(tlsDefaults?.ecdhCurves);
  const minimum = protocolVersion(settings.minProtocolVersion) ?? defaultMinimum(tlsDefaults?.minProtocolVersion);
  const maximum = protocolVersion(settings.maxProtocolVersion);
  return {
    ...(minimum === undefined ? {} : { tlsMinimumProtocolVersion: minimum }),
    ...(maximum === undefined ? {} : { tlsMaximumProtocolVersion: maximum }),
    ...(ciphers === undefined ? {} : { cipherSuites: [...ciphers] }),
    ...(curves === undefined ? {} : { ecdhCurves: [...curves] }),
  };
}

/** Each once, without those that nobody knows. */
function knownCiphers({ cipherSuites = [] }: ServerTLSSettings): readonly string[] {
  return [...new Set(cipherSuites.filter(isCipherSuite))];
}

function defaultMinimum(version: TLSProtocol | undefined): TlsParameters_TlsProtocolJson | undefined {
  if (version === undefined || version === "TLS_AUTO") return undefined;
  return version === "TLSV1_3" ? "TLSv1_3" : "TLSv1_2";
}

function protocolVersion(version: TLSProtocol | undefined): TlsParameters_TlsProtocolJson | undefined {
  switch (version) {
    case "TLSV1_0":
      return "TLSv1_0";
    case "TLSV1_1":
      return "TLSv1_1";
    case "TLSV1_2":
      return "TLSv1_2";
    case "TLSV1_3":
      return "TLSv1_3";
    default:
      return undefined;
  }
}

function nonEmpty(values: readonly string[] | undefined): readonly string[] | undefined {
  return values === undefined || values.length === 0 ? undefined : values;
}
