import { describe, expect, it } from "vitest";
import { keyText, kindText } from "../../lib/base/diagnostic.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { kindSchemas } from "../../lib/config/kind-registry.ts";

describe("the text of a key", () => {
  it.each([
    { group: "networking.istio.io", kind: "Gateway", text: "Gateway/shop/gw" },
    { group: "gateway.networking.k8s.io", kind: "Gateway", text: "Gateway.gateway.networking.k8s.io/shop/gw" },
    { group: "", kind: "Service", text: "Service/shop/gw" },
    { group: "serving.knative.dev", kind: "Service", text: "Service.serving.knative.dev/shop/gw" },
    { group: "networking.k8s.io", kind: "Ingress", text: "Ingress/shop/gw" },
    {
      group: "networking.internal.knative.dev",
      kind: "Ingress",
      text: "Ingress.networking.internal.knative.dev/shop/gw",
    },
  ])("of a $kind of group '$group' is $text", ({ group, kind, text }) => {
    expect(keyText({ group, kind, namespace: "shop", name: "gw" })).toBe(text);
  });

  it("is another one for each kind that is read", () => {
    expect(new Set(kindSchemas.map(kindText)).size).toBe(kindSchemas.length);
  });

  it("has the group that the document says", () => {
    const document = (apiVersion: string) => `apiVersion: ${apiVersion}\nkind: Gateway\nmetadata: {name: gw}\n`;
    const text = `${document("networking.istio.io/v1")}spec: {}\n---\n${document("gateway.networking.k8s.io/v1")}`;
    const { diagnostics } = readFiles([{ file: "a.yaml", text }]);
    const keys = diagnostics.map(({ origin }) => keyText(origin.key));
    expect(keys).toContain("Gateway/default/gw");
    expect(keys).toContain("Gateway.gateway.networking.k8s.io/default/gw");
  });
});
