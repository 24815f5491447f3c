import { describe, expect, it } from "vitest";
import type { ClientTLSSettings } from "../../lib/config/kinds/destination-rule.ts";
import { noMemo } from "../../lib/incremental/memo.ts";
import { defaultCertificateFiles, withCertificateFiles } from "../../lib/xds/certificate-files.ts";
import { allShared } from "../../lib/xds/resource.ts";
import { clustersOf, clusterView, rule, service } from "./world-parts.ts";

const cart = service("cart");
const none = allShared([]);
const nothing = { clusters: none, endpoints: none, listeners: none, routes: none };

/** The cluster of one service under a rule, with certificates in files. */
function clusterUnder(tls: ClientTLSSettings | undefined): unknown {
  const rules = tls === undefined ? {} : { [cart.hostname]: rule({ host: cart.hostname, trafficPolicy: { tls } }) };
  const view = clusterView({ services: [cart], rules, proxy: { type: "router" } });
  const stream = { ...nothing, clusters: clustersOf(view, noMemo) };
  const [, cluster] = withCertificateFiles(stream, defaultCertificateFiles, noMemo).clusters.shared;
  return cluster?.json;
}

const watched = (name: string) => ({
  name,
  sdsConfig: { pathConfigSource: { path: `/etc/certs/${name}.json` }, resourceApiVersion: "V3" },
});

const socket = (commonTlsContext: object) => ({ transportSocket: { typedConfig: { commonTlsContext } } });

describe("withCertificateFiles", () => {
  it("watches files for the workload's identity", () => {
    expect(clusterUnder({ mode: "ISTIO_MUTUAL" })).toMatchObject(
      socket({
        tlsCertificateSdsSecretConfigs: [watched("default")],
        combinedValidationContext: { validationContextSdsSecretConfig: watched("ROOTCA") },
      }),
    );
  });

  it("reaches into both sockets of automatic mTLS", () => {
    expect(JSON.stringify(clusterUnder(undefined))).not.toContain("sds-grpc");
  });

  it("names the files of a rule directly", () => {
    const tls = {
      mode: "MUTUAL",
      clientCertificate: "/c.pem",
      privateKey: "/k.pem",
      caCertificates: "/ca.pem",
      subjectAltNames: ["a.example"],
    } as const;
    expect(clusterUnder(tls)).toMatchObject(
      socket({
        tlsCertificates: [{ certificateChain: { filename: "/c.pem" }, privateKey: { filename: "/k.pem" } }],
        validationContext: { matchSubjectAltNames: [{ exact: "a.example" }], trustedCa: { filename: "/ca.pem" } },
      }),
    );
  });

  it("trusts the machine's roots where a rule names none", () => {
    expect(clusterUnder({ mode: "SIMPLE" })).toMatchObject(
      socket({ validationContext: { trustedCa: { filename: "/etc/ssl/certs/ca-certificates.crt" } } }),
    );
  });

  it("leaves credentials to the control plane", () => {
    expect(clusterUnder({ mode: "MUTUAL", credentialName: "shop" })).toMatchObject(
      socket({ tlsCertificateSdsSecretConfigs: [{ name: "kubernetes://shop", sdsConfig: { ads: {} } }] }),
    );
  });

  it("keeps the identity of resources without certificates", () => {
    const plain = { name: "c", json: { name: "c", type: "STATIC" }, from: [] };
    const stream = { ...nothing, clusters: allShared([plain]) };
    expect(withCertificateFiles(stream, defaultCertificateFiles, noMemo).clusters.shared[0]).toBe(plain);
  });
});
