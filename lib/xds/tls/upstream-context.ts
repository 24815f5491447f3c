import type { SdsSecretConfigJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import type {
  CommonTlsContextJson,
  UpstreamTlsContextJson,
} from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { ClientTLSSettings } from "../../config/kinds/destination-rule.ts";
import { systemRoots } from "../../config/rules/tls/client-tls.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import {
  credentialCaName,
  credentialSecretName,
  fileCertificateName,
  fileRootCaName,
  ownCaName,
  workloadCertificate,
  workloadRootCa,
} from "../names.ts";
import { compliantTls } from "./compliance.ts";
import { credentialSecret, fileSecret, identitySecret } from "./sds-secret.ts";

/** What a context depends on beside the settings. */
export interface UpstreamContextInput {
  readonly settings: ClientTLSSettings;
  /** SNI of mesh mTLS where the settings state none; empty: none is sent. */
  readonly defaultSni: string;
  /** The cluster speaks HTTP/2 and nothing else. */
  readonly http2: boolean;
  /** Names to accept where the settings state none: those that a ServiceEntry declares. */
  readonly declaredNames: readonly string[];
  /** Whether the proxy may be told to fetch `credentialName`. */
  readonly mayUseCredential: boolean;
  /** The same for `caCertCredentialName`; false: the authorities are those of the files. */
  readonly mayUseCaCredential: boolean;
  readonly mesh: MeshSettings;
}

const versions = { tlsMinimumProtocolVersion: "TLSv1_2", tlsMaximumProtocolVersion: "TLSv1_3" } as const;

/** Istio's peers agree by ALPN that they are peers. */
const meshAlpn = ["istio-peer-exchange", "istio"];
const meshAlpnHttp2 = [...meshAlpn, "h2"];

const ownCertificate = [identitySecret(workloadCertificate)];
const meshRoot = identitySecret(workloadRootCa);

/**
 * The TLS context of a cluster; undefined: plain text, also where the settings cannot be followed (a key pair with only
 * one half, a credential that the proxy may not fetch), as in Istio.
 *
 * @see docs/how-istio-does-it/clusters.md#tls-contexts
 */
export function upstreamContext(input: UpstreamContextInput): UpstreamTlsContextJson | undefined {
  const context = contextOf(input);
  if (context?.commonTlsContext === undefined) return context;
  return { ...context, commonTlsContext: compliantTls(context.commonTlsContext, input.mesh) };
}

function contextOf(input: UpstreamContextInput): UpstreamTlsContextJson | undefined {
  switch (input.settings.mode) {
    case "ISTIO_MUTUAL":
      return meshContext(input);
    case "SIMPLE":
    case "MUTUAL":
      return originationContext(input);
    default:
      return undefined;
  }
}

function exactNames(names: readonly string[]): { matchSubjectAltNames?: { exact: string }[] } {
  return names.length === 0 ? {} : { matchSubjectAltNames: names.map((exact) => ({ exact })) };
}

function meshContext(input: UpstreamContextInput): UpstreamTlsContextJson {
  const { settings, http2 } = input;
  const sni = (settings.sni ?? "") === "" ? input.defaultSni : (settings.sni ?? "");
  const context: UpstreamTlsContextJson = {
    commonTlsContext: {
      tlsParams: versions,
      alpnProtocols: http2 ? meshAlpnHttp2 : meshAlpn,
      tlsCertificateSdsSecretConfigs: ownCertificate,
      combinedValidationContext: {
        defaultValidationContext: exactNames(settings.subjectAltNames ?? []),
        validationContextSdsSecretConfig: meshRoot,
      },
    },
  };
  if (sni !== "") context.sni = sni;
  return context;
}

function originationContext(input: UpstreamContextInput): UpstreamTlsContextJson | undefined {
  const { settings, mesh } = input;
  const credential = settings.credentialName ?? "";
  const secrets = credential === "" ? fromFiles(input) : input.mayUseCredential ? fromCredential(input) : undefined;
  if (secrets === undefined) return undefined;
  const curves = mesh.tlsDefaults?.ecdhCurves ?? [];
  const ciphers = mesh.tlsDefaults?.cipherSuites ?? [];
  return {
    ...((settings.sni ?? "") === "" ? {} : { sni: settings.sni ?? "" }),
    commonTlsContext: {
      tlsParams: {
        ...versions,
        ...(curves.length === 0 ? {} : { ecdhCurves: [...curves] }),
        ...(ciphers.length === 0 ? {} : { cipherSuites: [...ciphers] }),
      },
      ...secrets,
      ...(input.http2 ? { alpnProtocols: ["h2"] } : {}),
    },
  };
}

function acceptedNames({ settings, declaredNames }: UpstreamContextInput): readonly string[] {
  const names = settings.subjectAltNames ?? [];
  return names.length === 0 ? declaredNames : names;
}

/** The authorities that have a Secret or ConfigMap of their own. */
function ownCa({ settings, mayUseCaCredential }: UpstreamContextInput): SdsSecretConfigJson | undefined {
  const name = settings.caCertCredentialName ?? "";
  if (name === "" || !mayUseCaCredential) return undefined;
  return name === systemRoots ? fileSecret(fileRootCaName("")) : credentialSecret(ownCaName(name));
}

function fromCredential(input: UpstreamContextInput): CommonTlsContextJson {
  const { settings } = input;
  const name = settings.credentialName ?? "";
  return {
    ...(settings.mode === "MUTUAL"
      ? { tlsCertificateSdsSecretConfigs: [credentialSecret(credentialSecretName(name))] }
      : {}),
    ...(settings.insecureSkipVerify === true
      ? {}
      : {
          combinedValidationContext: {
            defaultValidationContext: exactNames(acceptedNames(input)),
            validationContextSdsSecretConfig: ownCa(input) ?? credentialSecret(credentialCaName(name)),
          },
        }),
  };
}

function fromFiles(input: UpstreamContextInput): CommonTlsContextJson | undefined {
  const { settings } = input;
  const certificate = settings.clientCertificate ?? "";
  const key = settings.privateKey ?? "";
  if (settings.mode === "MUTUAL" && (certificate === "" || key === "")) return undefined;
  const crl = settings.caCrl ?? "";
  return {
    ...(settings.mode === "MUTUAL"
      ? { tlsCertificateSdsSecretConfigs: [fileSecret(fileCertificateName(certificate, key))] }
      : {}),
    ...(settings.insecureSkipVerify === true
      ? { validationContext: {} }
      : {
          combinedValidationContext: {
            defaultValidationContext: {
              ...exactNames(acceptedNames(input)),
              ...(crl === "" ? {} : { crl: { filename: crl } }),
            },
            validationContextSdsSecretConfig: ownCa(input) ?? fileSecret(fileRootCaName(settings.caCertificates ?? "")),
          },
        }),
  };
}
