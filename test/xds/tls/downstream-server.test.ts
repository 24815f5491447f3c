import { describe, expect, it } from "vitest";
import type { ServerTLSSettings } from "../../../lib/config/kinds/gateway.ts";
import type { ServerFiles } from "../../../lib/xds/tls/downstream-mesh.ts";
import { serverDownstreamContext } from "../../../lib/xds/tls/downstream-server.ts";
import { settingsOf } from "../../mesh/plain-settings.ts";

const contextOf = (settings: ServerTLSSettings, carries: "http" | "tcp" = "http", files: ServerFiles = {}) =>
  serverDownstreamContext(settings, { mesh: settingsOf(), secretServer: undefined, files }, carries);

describe("the TLS context of a server", () => {
  it.each([
    { mode: "SIMPLE", requires: false, validates: false },
    { mode: "MUTUAL", requires: true, validates: true },
    { mode: "OPTIONAL_MUTUAL", requires: false, validates: true },
    { mode: "ISTIO_MUTUAL", requires: true, validates: true },
  ] as const)(
    "in mode $mode asks for a certificate: $requires, and checks one: $validates",
    ({ mode, requires, validates }) => {
      const context = contextOf({ mode, credentialName: "c" });
      expect(context.requireClientCertificate).toBe(requires);
      expect(context.commonTlsContext?.combinedValidationContext !== undefined).toBe(validates);
    },
  );

  it.each([
    { mode: "MUTUAL", credentialName: "c" },
    { mode: "OPTIONAL_MUTUAL", credentialName: "c" },
    { mode: "MUTUAL", serverCertificate: "/c", privateKey: "/k", caCertificates: "/r" },
    { mode: "ISTIO_MUTUAL" },
  ] as const)("takes certificates that no root vouches for only where it is told to: %j", (settings) => {
    const verification = (insecureSkipVerify: boolean) =>
      contextOf({ ...settings, insecureSkipVerify }).commonTlsContext?.combinedValidationContext
        ?.defaultValidationContext?.trustChainVerification;
    expect([verification(true), verification(false)]).toEqual(["ACCEPT_UNTRUSTED", undefined]);
  });

  it("checks no client in mode SIMPLE, whatever it says of checking", () => {
    const context = contextOf({ mode: "SIMPLE", credentialName: "c", insecureSkipVerify: true });
    expect(context.commonTlsContext).not.toHaveProperty("combinedValidationContext");
  });

  it("offers Istio's metadata exchange only to mesh clients of TCP", () => {
    expect(contextOf({ mode: "ISTIO_MUTUAL" }, "tcp").commonTlsContext?.alpnProtocols).toContain("istio-peer-exchange");
    expect(contextOf({ mode: "ISTIO_MUTUAL" }, "http").commonTlsContext?.alpnProtocols).toEqual(["h2", "http/1.1"]);
    expect(contextOf({ mode: "SIMPLE" }, "tcp").commonTlsContext?.alpnProtocols).toEqual(["h2", "http/1.1"]);
  });

  it.each([
    ["name", "kubernetes://name"],
    ["ns/name", "kubernetes://ns/name"],
    ["kubernetes-gateway://ns/name", "kubernetes-gateway://ns/name"],
    ["sds://outside", "kubernetes://outside"],
    ["invalid://whatever", "invalid://"],
  ])("fetches the credential %s as %s", (credentialName, want) => {
    expect(
      contextOf({ mode: "SIMPLE", credentialName }).commonTlsContext?.tlsCertificateSdsSecretConfigs?.[0]?.name,
    ).toBe(want);
  });

  it("takes files from the agent, and the workload's own identity for half a key pair", () => {
    const nameOf = (settings: ServerTLSSettings) =>
      contextOf({ mode: "SIMPLE", ...settings }).commonTlsContext?.tlsCertificateSdsSecretConfigs?.[0]?.name;
    expect(nameOf({ serverCertificate: "/c", privateKey: "/k" })).toBe("file-cert:/c~/k");
    expect(nameOf({ serverCertificate: "/c" })).toBe("default");
  });

  it("shows the proxy's own files for its identity in the mesh only", () => {
    const files = { TLS_SERVER_CERT_CHAIN: "/c", TLS_SERVER_KEY: "/k", TLS_SERVER_ROOT_CERT: "/r" };
    const namesOf = (settings: ServerTLSSettings) => {
      const common = contextOf(settings, "http", files).commonTlsContext;
      return [
        common?.tlsCertificateSdsSecretConfigs?.[0]?.name,
        common?.combinedValidationContext?.validationContextSdsSecretConfig?.name,
      ];
    };
    expect(namesOf({ mode: "ISTIO_MUTUAL" })).toEqual(["file-cert:/c~/k", "file-root:/r"]);
    expect(namesOf({ mode: "MUTUAL", credentialName: "x" })).toEqual(["kubernetes://x", "kubernetes://x-cacert"]);
  });

  it("offers each known cipher once, and the mesh's where none is left", () => {
    const ciphersOf = (cipherSuites: readonly string[]) =>
      contextOf({ mode: "SIMPLE", cipherSuites }).commonTlsContext?.tlsParams?.cipherSuites;
    expect(ciphersOf(["AES128-SHA", "no-such", "AES128-SHA"])).toEqual(["AES128-SHA"]);
    expect(ciphersOf(["no-such"])).toBeUndefined();
  });

  it("offers the protocols and curves that the server states, instead of the usual ones", () => {
    const stated = { alpnProtocols: ["acme-tls/1"], ecdhCurves: ["P-256"] };
    const common = contextOf({ mode: "SIMPLE", credentialName: "c", ...stated }).commonTlsContext;
    expect(common).toMatchObject({ alpnProtocols: ["acme-tls/1"], tlsParams: { ecdhCurves: ["P-256"] } });
    expect(contextOf({ mode: "ISTIO_MUTUAL", ...stated }, "tcp").commonTlsContext?.alpnProtocols).toEqual([
      "acme-tls/1",
    ]);
    const mesh = settingsOf({ tlsDefaults: { ecdhCurves: ["X25519"] } });
    const side = { mesh, secretServer: undefined, files: {} };
    const curvesOf = (settings: ServerTLSSettings) =>
      serverDownstreamContext(settings, side, "http").commonTlsContext?.tlsParams?.ecdhCurves;
    expect(curvesOf({ mode: "SIMPLE", ...stated })).toEqual(["P-256"]);
    expect(curvesOf({ mode: "SIMPLE" })).toEqual(["X25519"]);
  });

  it("says nothing of versions and ciphers unless somebody does", () => {
    expect(contextOf({ mode: "SIMPLE" }).commonTlsContext?.tlsParams).toBeUndefined();
    expect(contextOf({ mode: "SIMPLE", minProtocolVersion: "TLS_AUTO" }).commonTlsContext?.tlsParams).toBeUndefined();
    expect(contextOf({ mode: "SIMPLE", maxProtocolVersion: "TLSV1_2" }).commonTlsContext?.tlsParams).toEqual({
      tlsMaximumProtocolVersion: "TLSv1_2",
    });
  });
});
