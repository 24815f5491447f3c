import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../../lib/base/diagnostic.ts";
import { errorLog } from "../../../lib/compile/telemetry/log.ts";

function said(code: Diagnostic["code"], kind: string, name: string, message = "is wrong"): Diagnostic {
  const key = { group: kind === "MeshConfig" ? "" : "networking.istio.io", kind, name, namespace: "shop" };
  const severity = code === "last-valid-served" || code === "security-closed" ? "warning" : "error";
  return { code, severity, origin: { key, file: "a", line: 0 }, path: [], message, hint: "" };
}

function logged() {
  const texts: string[] = [];
  const warn = (_fields: object, text: string): void => void texts.push(text);
  return { texts, tell: errorLog({ info: warn, warn, error: warn }) };
}

describe("the log of what is refused", () => {
  it("has what is served in its place", () => {
    const { texts, tell } = logged();
    tell([
      said("invalid-value", "VirtualService", "kept"),
      said("last-valid-served", "VirtualService", "kept", "its last valid form (resourceVersion 337) is served"),
      said("invalid-value", "VirtualService", "left"),
      said("duplicate-object", "VirtualService", "twice"),
      said("invalid-value", "AuthorizationPolicy", "shut"),
      said("security-closed", "AuthorizationPolicy", "shut"),
      said("invalid-value", "MeshConfig", "MeshConfig"),
      said("last-valid-served", "MeshConfig", "MeshConfig"),
      said("source-held", "", ""),
    ]);
    expect(texts).toEqual([
      "refused; its last valid form (resourceVersion 337) is served",
      "refused; nothing of it is served",
      "refused; it is served as it is",
      "refused; what it selects is closed",
      "no valid form is known",
      "refused; the last valid settings are served",
      "a source is held back",
    ]);
  });

  it("says it again when something else is served in its place", () => {
    const { texts, tell } = logged();
    const error = said("invalid-value", "VirtualService", "a");
    tell([error, said("last-valid-served", "VirtualService", "a", "its form before is still served")]);
    tell([error]);
    tell([error]);
    expect(texts).toEqual(["refused; its form before is still served", "refused; nothing of it is served"]);
  });
});
