import { describe, expect, it } from "vitest";
import { buildFor, buildOfSilence, project } from "../../lib/base/classifier.ts";
import { buildOfExtensions, classPrefix, isIstioClass, shortLists } from "../../lib/base/proxy-build.ts";

const namesIn = (list: string): string[] => JSON.parse(list).map(({ name }: { readonly name: string }) => name);
const ofIstio = namesIn(shortLists.istio);

describe("buildOfExtensions", () => {
  it("takes for Istio's own what has all of its filters, among others", () => {
    expect(buildOfExtensions(["envoy.filters.http.router", ...ofIstio])).toBe("istio");
  });

  it.each(ofIstio)("takes what lacks %s for a stock Envoy, which would refuse it", (missing) => {
    expect(buildOfExtensions(ofIstio.filter((name) => name !== missing))).toBe("envoy");
  });

  it("says nothing of a node without a list", () => {
    expect(buildOfExtensions([])).toBeUndefined();
  });
});

describe("the build of a node", () => {
  const claims = {
    id: "sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local",
    cluster: "",
    locality: "",
    metadata: { NAMESPACE: "shop" },
  };
  const reads = (attribute: string) => ({ attributes: [attribute], labels: {} });

  it.each([
    ["envoy", undefined, undefined, "envoy"],
    ["istio", undefined, undefined, "istio"],
    ["envoy", "istio", undefined, "istio"],
    ["istio", "envoy", undefined, "envoy"],
    ["istio", "istio", "envoy", "envoy"],
    ["envoy", "envoy", "istio", "istio"],
    ["envoy", "Istio", undefined, "envoy"],
  ] as const)("silence counts as %s, its metadata says %s, its extensions %s: %s", (silent, said, build, expected) => {
    const node = {
      ...claims,
      metadata: { ...claims.metadata, ...(said === undefined ? {} : { PROXY_BUILD: said }) },
      ...(build === undefined ? {} : { build }),
    };
    const classifier = reads(`build:${silent}`);
    expect(buildFor(classifier, node)).toBe(expected);
    expect(project(classifier, node)).toBe(JSON.stringify([expected === silent ? null : expected]));
  });

  it("is told apart only where the compiler did so", () => {
    expect([buildFor(reads("namespace"), claims), buildOfSilence(reads("namespace"))]).toEqual([undefined, undefined]);
  });
});

describe("names of classes", () => {
  it("say which are of Istio's own proxies", () => {
    const ids = [classPrefix("sidecar", "istio"), classPrefix("sidecar", undefined), classPrefix("router", "istio")];
    expect(ids.map((prefix) => [`${prefix}-0123abcd`, isIstioClass(`${prefix}-0123abcd`)])).toEqual([
      ["sidecar-istio-0123abcd", true],
      ["sidecar-0123abcd", false],
      ["router-istio-0123abcd", true],
    ]);
  });
});
