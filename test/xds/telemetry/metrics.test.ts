import { describe, expect, it } from "vitest";
import type { Metrics } from "../../../lib/config/kinds/telemetry.ts";
import { mergeMetrics } from "../../../lib/xds/telemetry/metrics.ts";

const merged = (rules: readonly Metrics[], side: "CLIENT" | "SERVER" = "CLIENT", defaults = ["prometheus"]) =>
  Object.fromEntries(mergeMetrics(rules, defaults, side));

describe("mergeMetrics", () => {
  it("takes the mesh's providers where nobody says anything of metrics", () => {
    expect(merged([])).toEqual({ prometheus: { changes: [], reportingInterval: undefined } });
    expect(merged([], "CLIENT", [])).toEqual({});
  });

  it("leaves out providers that a later rule replaces", () => {
    expect(Object.keys(merged([{ providers: [{ name: "a" }] }, { providers: [{ name: "b" }] }]))).toEqual(["b"]);
  });

  it("switches a side off, and on again by any later word about a metric", () => {
    const off: Metrics = { overrides: [{ disabled: true, match: { mode: "CLIENT" } }] };
    const word: Metrics = { overrides: [{ match: { metric: "REQUEST_SIZE" }, disabled: true }] };
    expect(Object.keys(merged([off]))).toEqual([]);
    expect(Object.keys(merged([off], "SERVER"))).toEqual(["prometheus"]);
    expect(merged([off, word]).prometheus?.changes).toEqual([{ metric: "REQUEST_SIZE", disabled: true, tags: [] }]);
  });

  it("lets the later rule win, tag by tag", () => {
    const first: Metrics = {
      overrides: [{ match: { metric: "REQUEST_COUNT" }, tagOverrides: { b: { value: "1" }, a: { value: "1" } } }],
    };
    const second: Metrics = {
      overrides: [{ match: { metric: "REQUEST_COUNT" }, tagOverrides: { b: { operation: "REMOVE" } } }],
    };
    expect(merged([first, second]).prometheus?.changes).toEqual([
      {
        metric: "REQUEST_COUNT",
        disabled: false,
        tags: [
          ["a", { value: "1" }],
          ["b", { operation: "REMOVE" }],
        ],
      },
    ]);
  });

  it("means every metric of Istio's where none is named", () => {
    const [all] = Object.values(merged([{ overrides: [{ tagOverrides: { a: { value: "1" } } }] }]));
    expect(all?.changes.length).toBe(10);
  });
});
