import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../../lib/base/diagnostic.ts";
import { problemIn } from "../../../lib/cli/problem-text.ts";
import { refusalsIn, refusalsText } from "../../../lib/snapshot/nodes/refusals.ts";

/** @param name of an object; empty for a file as a whole */
function said(code: Diagnostic["code"], file: string, name: string): Diagnostic {
  const kind = name === "" ? "" : "VirtualService";
  const key = { group: "networking.istio.io", kind, name, namespace: "shop" };
  const severity = code === "last-valid-served" ? "warning" : "error";
  return { code, severity, origin: { key, file, line: 3 }, path: [], message: "is wrong", hint: "" };
}

const insteadOf = (...diagnostics: readonly Diagnostic[]) => refusalsIn(diagnostics).map(({ instead }) => instead);

describe("what is served instead of what is refused", () => {
  it("is its last valid form, wherever that stood", () => {
    const error = said("unknown-field", "a.yaml", "reviews");
    expect(insteadOf(error, said("last-valid-served", "a.yaml", "reviews"))).toEqual(["last-valid"]);
    expect(insteadOf(error, said("last-valid-served", "z.yaml", "reviews"))).toEqual(["last-valid"]);
    const unreadable = said("unreadable-document", "z.yaml", "");
    expect(insteadOf(unreadable, error, said("last-valid-served", "z.yaml", "reviews"))).toEqual([
      "last-valid",
      "last-valid",
    ]);
  });

  it("is nothing, where nothing is kept of it", () => {
    const other = said("last-valid-served", "a.yaml", "details");
    expect(insteadOf(said("unknown-field", "a.yaml", "reviews"), other)).toEqual(["nothing"]);
  });

  it("is no last valid form of an object where only the settings of its file are kept", () => {
    const whole = said("last-valid-served", "mesh.yaml", "");
    const error = said("object-in-settings", "mesh.yaml", "reviews");
    expect(insteadOf(error, whole)).toEqual(["nothing"]);
    expect(insteadOf(said("invalid-value", "mesh.yaml", "reviews"), whole)).toEqual(["last-valid"]);
    expect(insteadOf(error, whole, said("last-valid-served", "mesh.yaml", "reviews"))).toEqual(["last-valid"]);
  });

  it("is the object itself where it is there twice, and the error stands at the one that counts", () => {
    const found = refusalsIn([said("duplicate-object", "z.yaml", "reviews")]);
    expect(found.map(({ instead }) => instead)).toEqual(["itself"]);
    expect(refusalsText(found)).toBe("1 in the newest version: 1 served as it is");
  });
});

describe("a refusal of a server", () => {
  const whole = said("unknown-field", "a.yaml", "reviews");

  it("is told with the diagnostics that are some", () => {
    const odd = [null, 7, [], { x: 1 }, { ...whole, path: 5 }, { ...whole, origin: { ...whole.origin, key: {} } }];
    expect(problemIn(JSON.stringify({ detail: "no", diagnostics: [...odd, whole] }))).toEqual({
      detail: "no",
      diagnostics: [whole],
    });
  });

  it("is told by its beginning where it is no problem", () => {
    expect(problemIn("<html>".repeat(200))).toEqual({ detail: "<html>".repeat(200).slice(0, 500), diagnostics: [] });
  });
});
