import { describe, expect, it } from "vitest";
import { fileDifferences } from "./differences.ts";
import { normaliseFile } from "./normalise.ts";

describe("normaliseFile", () => {
  it("takes out filters that only Istio's proxy has, and the list that is empty then", () => {
    const foreign = { name: "istio.alpn", typedConfig: { "@type": "type.googleapis.com/istio.envoy.config.Alpn" } };
    const router = { name: "router", typedConfig: { "@type": "type.googleapis.com/envoy.extensions.Router" } };
    expect(normaliseFile([{ name: "a", filters: [foreign], httpFilters: [foreign, router], chains: [] }])).toEqual([
      { name: "a", httpFilters: [router], chains: [] },
    ]);
  });

  it("looks through a TypedStruct at the type that it stands for", () => {
    const wrapped = {
      name: "x",
      typedConfig: { "@type": "type.googleapis.com/udpa.type.v1.TypedStruct", typeUrl: "type.googleapis.com/other.X" },
    };
    expect(normaliseFile([{ name: "a", filters: [wrapped] }])).toEqual([{ name: "a" }]);
  });

  it("sorts resources by name, endpoints by address and port, and nothing else", () => {
    const endpoint = (address: string, portValue: number) => ({
      endpoint: { address: { socketAddress: { address, portValue } } },
    });
    const unsorted = [
      { clusterName: "b", endpoints: [{ lbEndpoints: [endpoint("2", 90), endpoint("10", 80), endpoint("2", 100)] }] },
      { clusterName: "a", list: [2, 1] },
    ];
    expect(normaliseFile(unsorted)).toEqual([
      { clusterName: "a", list: [2, 1] },
      { clusterName: "b", endpoints: [{ lbEndpoints: [endpoint("10", 80), endpoint("2", 90), endpoint("2", 100)] }] },
    ]);
  });

  it("sorts chains of one address range among the places they hold", () => {
    const range = (addressPrefix: string) => ({ filterChainMatch: { prefixRanges: [{ addressPrefix }] } });
    const other = { filterChainMatch: { destinationPort: 1, prefixRanges: [{ addressPrefix: "0" }] } };
    expect(normaliseFile([{ name: "l", filterChains: [range("9"), other, range("1")] }])).toEqual([
      { name: "l", filterChains: [range("1"), other, range("9")] },
    ]);
  });
});

describe("fileDifferences", () => {
  it("compares resources by name, so that a missing one does not shift the rest", () => {
    const differences = fileDifferences([{ name: "a" }, { name: "b", x: 1 }], [{ name: "b", x: 2 }]);
    expect(differences.map((difference) => difference.path)).toEqual(['$["a"]', '$["b"].x']);
  });

  it("tells absent, empty and zero apart", () => {
    const names = (differences: ReturnType<typeof fileDifferences>) => differences.map((difference) => difference.path);
    expect(names(fileDifferences([{ name: "a", x: {} }], [{ name: "a" }]))).toEqual(['$["a"].x']);
    expect(names(fileDifferences([{ name: "a", x: 0 }], [{ name: "a" }]))).toEqual(['$["a"].x']);
    expect(names(fileDifferences([{ name: "a" }], [{ name: "a" }]))).toEqual([]);
  });
});
