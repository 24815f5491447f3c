import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { withoutSecrets } from "../../../lib/config/secrets/without-secrets.ts";

const deny = `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: guard, namespace: shop }
spec: { action: DENY, rules: [{}] }
`;
const guard = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: guard, namespace: shop }
spec:
  configPatches:
    - applyTo: HTTP_FILTER
      match: { context: SIDECAR_INBOUND }
      patch: { operation: INSERT_FIRST, value: { name: envoy.filters.http.rbac } }
`;
const strict = `apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: guard, namespace: shop }
spec: { mtls: { mode: STRICT } }
`;
const json = JSON.stringify;
const metadata = { name: "guard", namespace: "shop" };
const typed = { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata };

/** What a text closes: namespaces, "" for the mesh. Nothing of it is read as valid. */
function closedBy(text: string): readonly string[] {
  const { closed, configs } = readFiles(withoutSecrets([{ file: "a.yaml", text }]));
  expect(configs).toEqual([]);
  return [...new Set(closed.flatMap(({ configs: made }) => made.map(({ meta }) => meta.namespace)))].sort();
}

describe("a security object with a slip outside of its spec", () => {
  it.each([
    ["an apiVersion of three parts", deny.replace("/v1", "/v1/x")],
    ["another group of Istio's", deny.replace("security.istio.io", "istio.io")],
    ["a group that is cut off", deny.replace("security.istio.io", "authorization.istio.io")],
    ["a misspelt kind", deny.replace("kind:", "knid:")],
    ["no kind", deny.replace("kind: AuthorizationPolicy\n", "")],
    ["a kind that is a list", deny.replace("kind: AuthorizationPolicy", "kind: [AuthorizationPolicy]")],
    [
      "a misspelt list",
      deny
        .replace("kind: AuthorizationPolicy", "kind: AuthorizationPolicylist")
        .replace(/metadata.*\n/, "items: [{ metadata: { namespace: shop } }]\n"),
    ],
    ["a misspelt spec", strict.replace("spec:", "sepc:")],
    ["a misspelt spec of an EnvoyFilter", guard.replace("spec:", "spce:")],
    ["a field of the spec beside it", strict.replace("spec: { mtls: { mode: STRICT } }", "mtls: { mode: STRICT }")],
    ["patches beside the spec", guard.replace("spec:\n  configPatches:", "spec: {}\nconfigPatches:")],
    [
      "a field that comes twice, in JSON",
      `${json({ ...typed, spec: { action: "DENY", rules: [{}] } }).replace('"rules"', '"action":"AUDIT","rules"')}\n`,
    ],
    [
      "a field in both spellings",
      deny.replace("[{}]", '[{ to: [{ operation: { notPaths: ["/a"], not_paths: ["/b"] } }] }]'),
    ],
    ["a space that is none", deny.replace("kind: ", "kind:\u00a0")],
    ["a colon that is none", deny.replace("kind: ", "kind：")],
    ["a tag that is not known", deny.replace("kind: ", "kind: !istio ")],
  ])("closes its namespace: %s", (_what, text) => {
    expect(text).not.toBe(deny);
    expect(closedBy(text)).toEqual(["shop"]);
  });

  it.each([
    ["a namespace that is no text", deny.replace("shop", "[shop]")],
    ["a namespace that no object can have", deny.replace("shop", '"shop "')],
    ["a misspelt namespace", deny.replace("namespace", "namespce")],
    [
      "more namespaces than can be gone through",
      Array.from({ length: 17 }, (_, at) => deny.replace("shop }", `n${at}`)).join(""),
    ],
  ])("closes the mesh where nobody can say in which namespace it is: %s", (_what, text) => {
    expect(closedBy(text)).toEqual([""]);
  });

  it.each([
    ["a rate limit", guard],
    [
      "a Wasm module",
      'apiVersion: extensions.istio.io/v1alpha1\nkind: WasmPlugin\nmetadata: { name: guard, namespace: shop }\nspec: { phase: AUTHN, url: "file:///a" }\n',
    ],
  ])("closes its namespace where it stands in a document that cannot be read: %s", (_what, text) => {
    expect(closedBy(`${text}  ]\n`)).toEqual(["shop"]);
  });

  it("closes where the document is left out since a secret may stand in it", () => {
    const text = `${deny}# -----BEGIN PRIVATE KEY-----\n  hunter2: ]\n`;
    expect(closedBy(text)).toEqual(["shop"]);
    expect(withoutSecrets([{ file: "a.yaml", text }])[0]?.text).not.toContain("hunter2");
  });

  it("leaves another system's policies alone", () => {
    const texts = [
      "apiVersion: kyverno.io/v1\nkind: Policy\nmetadata: { name: a, namespace: shop }\nspec: ]\n",
      "apiVersion: policy.linkerd.io/v1alpha1\nkind: AuthorizationPolicy\nmetadata: { name: a, namespace: shop }\nspec: {}\n",
      "apiVersion: v1\nkind: Pod\nmetadata: { name: a, labels: { security.istio.io/tlsMode: istio } }\nspec: ]\n",
    ];
    for (const text of texts) expect(closedBy(text)).toEqual([]);
  });
});

describe("the metadata of an object", () => {
  it.each(["labls: {}", "anotations: {}", "resourceVersoin: a"])("may have no other field: %s", (field) => {
    const text = deny.replace("name: guard,", `name: guard, ${field},`);
    const { diagnostics } = readFiles([{ file: "a.yaml", text }]);
    expect(diagnostics.map(({ code, path }) => [code, path[0]])).toEqual([["unknown-field", "metadata"]]);
  });
});
