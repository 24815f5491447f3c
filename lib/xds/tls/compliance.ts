import type { CommonTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";

/** Cipher suites of TLS 1.2 that FIPS 140 approves. */
const approvedCiphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
];

/**
 * A TLS context, downstream or upstream, as the mesh's `COMPLIANCE_POLICY` wants it, whatever rules and servers say.
 *
 * @see docs/releases.md#switches
 */
export function compliantTls(
  context: CommonTlsContextJson,
  { rules }: Pick<MeshSettings, "rules">,
): CommonTlsContextJson {
  const { tlsParams } = context;
  switch (rules.compliancePolicy) {
    case "":
      return context;
    case "fips-140-2": {
      // Envoy's own suites, of a build for FIPS, are approved; only stated ones have to be looked through. So is its own curve.
      const { ecdhCurves: _curves, cipherSuites = [], ...others } = tlsParams ?? {};
      const ciphers = cipherSuites.filter((cipher) => approvedCiphers.includes(cipher));
      return {
        ...context,
        tlsParams: {
          ...others,
          tlsMinimumProtocolVersion: "TLSv1_2",
          tlsMaximumProtocolVersion: "TLSv1_2",
          ...(ciphers.length === 0 ? {} : { cipherSuites: ciphers }),
        },
      };
    }
    case "fips-140-3":
      return { ...context, tlsParams: { ...tlsParams, compliancePolicies: ["FIPS_202205"] } };
    case "pqc":
      return {
        ...context,
        tlsParams: {
          ...tlsParams,
          tlsMinimumProtocolVersion: "TLSv1_3",
          cipherSuites: approvedCiphers,
          ecdhCurves: ["X25519MLKEM768"],
        },
      };
  }
}
