import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import type { Fields } from "../../lib/base/untyped.ts";
import { checkedAnnotations, unheededAnnotations } from "../../lib/injection/annotations.ts";
import { merged } from "../../lib/injection/merge.ts";
import { podOf } from "../../lib/injection/pod.ts";
import { withoutInjected } from "../../lib/injection/status.ts";
import { injectedPod } from "./injected.ts";

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

  it("of many unknown names are compared with known ones up to a bound", () => {
    const misspelt = Array.from({ length: 150 }, (_, i) => [
      `sidecar.istio.io/logLevel${String.fromCharCode(0x100 + i)}`,
      "",
    ]);
    expect(unheededAnnotations(Object.fromEntries(misspelt))).toHaveLength(100);
  });

  it("name no more templates than are ever used", () => {
    const annotations = { "inject.istio.io/templates": Array.from({ length: 33 }, () => "sidecar").join() };
    expect(() => injectedPod({ annotations })).toThrow("names more than 32 templates");
  });

  it("keep every form of a quantity", () => {
    const name = "sidecar.istio.io/proxyCPU";
    for (const text of ["2", "+1.5", "100m", ".5", "1.", "2Gi", "1e3"])
      expect(() => checkedAnnotations({ [name]: text })).not.toThrow();
    for (const text of ["", ".", "1.2.3", "2GiB", "-"]) expect(() => checkedAnnotations({ [name]: text })).toThrow();
  });
});

describe("a pod that somebody made to harm", () => {
  const many = 2_000;

  /** Elements whose names are counted when they are read. */
  function counted(prefix: string) {
    const count = { reads: 0 };
    const elements = Array.from(
      { length: many },
      (_, i): Fields => ({
        get name() {
          count.reads += 1;
          return `${prefix}${i}`;
        },
      }),
    );
    return { count, elements };
  }

  it("has each variable of its proxy looked at a few times, and not once for each other one", () => {
    const { count, elements } = counted("A");
    const { env } = merged({ env: elements }, { env: elements.map((_, i) => ({ name: `A${many - 1 - i}` })) });
    expect(env).toHaveLength(many);
    expect(count.reads).toBeLessThan(10 * many);
  });

  it("has each container looked at a few times, too, where it says what was injected before", () => {
    const { count, elements } = counted("c");
    const overrides = { containers: elements.map((_, i) => ({ name: `d${i}` })) };
    const annotations = { "sidecar.istio.io/status": "{}", "proxy.istio.io/overrides": JSON.stringify(overrides) };
    const { spec } = withoutInjected(podOf({ metadata: { annotations }, spec: { containers: elements } }));
    expect(spec.containers).toHaveLength(2 * many);
    expect(count.reads).toBeLessThan(10 * many);
  });
});
