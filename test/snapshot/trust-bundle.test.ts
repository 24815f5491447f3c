import { describe, expect, it } from "vitest";
import { namedBundles, readBundleName } from "../../lib/snapshot/trust-bundle.ts";

describe("the SDS name of certificates", () => {
  it.each([
    ["configmap://shop/roots", { namespace: "shop", name: "roots" }],
    ["configmap://shop/roots-cacert", { namespace: "shop", name: "roots" }],
    ["configmap://roots", { namespace: undefined, name: "roots" }],
    ["kubernetes://shop/roots", undefined],
    ["configmap://a/b/c", undefined],
    ["configmap://", undefined],
    ["configmap://Shop/roots", undefined],
    ["clustertrustbundle://example.com:roots:v1", { namespace: "", name: "example.com:roots:v1" }],
    ["clustertrustbundle://example.com:roots:v1-cacert", { namespace: "", name: "example.com:roots:v1" }],
    ["clustertrustbundle://shop/roots", undefined],
    ["clustertrustbundle://", undefined],
  ])("%s", (text, question) => {
    expect(readBundleName(text)).toEqual(question);
  });
});

describe("the bundles that resources name", () => {
  const bundles = { "a/roots": { ca: "1" }, "b/roots": { ca: "2" }, "a/other": { ca: "3" } };

  it("are those of the names, and of every namespace where a name has none", () => {
    expect(namedBundles(bundles, ["configmap://a/roots-cacert", "kubernetes://a/other"])).toEqual({
      "a/roots": { ca: "1" },
    });
    expect(namedBundles(bundles, ["configmap://roots"])).toEqual({ "a/roots": { ca: "1" }, "b/roots": { ca: "2" } });
  });

  it("are those of the cluster by their own scheme alone", () => {
    const all = { ...bundles, "/roots": { ca: "4" } };
    expect(namedBundles(all, ["clustertrustbundle://roots"])).toEqual({ "/roots": { ca: "4" } });
    expect(namedBundles(all, ["configmap://roots"])).not.toHaveProperty("/roots");
  });

  it("are none where nothing names one", () => {
    expect(namedBundles(bundles, ["kubernetes://roots", "configmap://a/gone"])).toBeUndefined();
  });
});
