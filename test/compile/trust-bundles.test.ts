import { describe, expect, it } from "vitest";
import { fileOrigin } from "../../lib/base/diagnostic.ts";
import { trustBundlesOf } from "../../lib/compile/trust-bundles.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { certificate } from "./certificate.ts";

const configMap = (name: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data,
  origin: fileOrigin("roots.yaml"),
});
const crl = "-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n";
const bundlesOf = (...objects: readonly ReturnType<typeof configMap>[]) => trustBundlesOf(createMemo(), { objects });

describe("trust bundles", () => {
  it("are the certificates of ConfigMaps, in Istio's names, with the lists of revoked ones", () => {
    expect(
      bundlesOf(
        configMap("b", { "ca.crt": certificate, "ca.crl": crl }),
        configMap("a", { cacert: certificate, "ca.crt": "other", crl }),
      ),
    ).toEqual({ "shop/a": { ca: certificate, crl }, "shop/b": { ca: certificate, crl } });
  });

  it("are those of ClusterTrustBundles too, under a name without a namespace", () => {
    const origin = fileOrigin("roots.yaml");
    const bundle = (name: string, trustBundle: string) => ({
      apiVersion: "certificates.k8s.io/v1beta1",
      kind: "ClusterTrustBundle",
      metadata: { name },
      spec: { trustBundle },
      origin,
    });
    const objects = [bundle("example.com:b", certificate), bundle("a", "none")];
    expect(trustBundlesOf(createMemo(), { objects })).toEqual({ "/example.com:b": { ca: certificate } });
  });

  it.each([
    ["no certificates", { "ca.crt": "none" }],
    ["nothing", {}],
    ["an empty text", { "ca.crt": "" }],
    ["a list of revoked ones that is none", { "ca.crt": certificate, "ca.crl": "none" }],
    ["more than a ConfigMap may", { "ca.crt": certificate + " ".repeat(1024 * 1024) }],
  ])("leave out a ConfigMap that holds %s", (_what, data) => {
    expect(bundlesOf(configMap("a", data))).toEqual({});
  });
});
