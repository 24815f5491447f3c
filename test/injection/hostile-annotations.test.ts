import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { checkedAnnotations } from "../../lib/injection/annotations.ts";

describe("annotations that somebody chose to harm", () => {
  it("of any length are refused by a short message", () => {
    const text = `${"1".repeat(200_000)}x`;
    for (const name of ["sidecar.istio.io/proxyCPU", "sidecar.istio.io/proxyMemoryLimit"]) {
      const refused = () => checkedAnnotations({ [name]: text });
      expect(refused).toThrow(PortolanError);
      expect(refused).toThrow(/^invalid value '1{100}' for annotation/);
    }
  });

  it("are nothing of ours by the names that every object has", () => {
    expect(() => checkedAnnotations({ toString: "a", constructor: "b", hasOwnProperty: "c" })).not.toThrow();
  });

  it("keep every form of a quantity", () => {
    const name = "sidecar.istio.io/proxyCPU";
    for (const text of ["2", "+1.5", "100m", ".5", "1.", "2Gi", "1e3"])
      expect(() => checkedAnnotations({ [name]: text })).not.toThrow();
    for (const text of ["", ".", "1.2.3", "2GiB", "-"]) expect(() => checkedAnnotations({ [name]: text })).toThrow();
  });
});
