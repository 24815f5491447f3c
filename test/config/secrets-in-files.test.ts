import { describe, expect, it } from "vitest";
import { readFiles } from "../../lib/config/directory.ts";
import { secretsInFiles } from "../../lib/config/secrets-in-files.ts";

const key = "-----BEGIN PRIVATE KEY-----";
const secret = `apiVersion: v1
kind: Secret
metadata:
  name: shop
  namespace: bookshop
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "s3cret"}
type: kubernetes.io/tls
data: {tls.crt: Yw==, tls.key: s3cret}
stringData: {ca.crt: s3cret}
`;
const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";
const found = (text: string, file = "a.yaml") =>
  secretsInFiles([{ file, text }]).map(({ code, origin, path }) => `${origin.line} ${code} ${path.join(".")}`);

describe("secretsInFiles", () => {
  it.each([
    ["a Secret among others", `${service}---\n${secret}`, ["5 secret-in-source "]],
    ["a Secret in JSON", '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}', ["1 secret-in-source "]],
    [
      "a Secret in a list",
      `kind: List\nitems:\n- ${service.replaceAll("\n", "\n  ")}\n- kind: Secret\n  apiVersion: v1\n  metadata: {name: a}`,
      ["7 secret-in-source "],
    ],
    [
      "a Secret that is spelt in escapes",
      '{"apiVersion":"v1","kind":"S\\u0065cret","metadata":{"name":"a"}}',
      ["1 secret-in-source "],
    ],
    ["a Secret in a document that is broken", `${service}---\n${secret}\tx: [`, ["6 secret-in-source "]],
    [
      "a private key in another object",
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: b\n  key: |\n    ${key}\n`,
      ["6 inline-secret data.key"],
    ],
    [
      "a private key in an EnvoyFilter",
      "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: a}\nspec:\n  configPatches:\n  - patch:\n      value:\n        private_key:\n          inline_string: a\n",
      ["9 inline-secret spec.configPatches.0.patch.value.private_key.inline_string"],
    ],
    ["a private key in the mesh's settings", `a: b\ncertificates:\n- cert: |\n    ${key}\n`, ["4 secret-in-source "]],
  ])("finds %s, with its line", (_what, text, want) => {
    expect(found(text)).toEqual(want);
  });

  it.each([
    service,
    "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: a}\n",
    "apiVersion: external-secrets.io/v1\nkind: Secret\nmetadata: {name: a}\n",
    "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: a}\nspec: {servers: [{tls: {credentialName: Secret}}]}\n",
  ])("finds none in %s", (text) => {
    expect(found(text)).toEqual([]);
  });
});

describe("a Secret in a folder", () => {
  it.each(["a.yaml", "clusters/west.yaml"])("goes no further than its name and the names of its values: %s", (file) => {
    const read = readFiles([{ file, text: secret }]);
    expect(JSON.stringify(read)).not.toContain("s3cret");
    expect(read.diagnostics).toEqual([expect.objectContaining({ code: "secret-in-source", severity: "warning" })]);
    const [kept] = [...read.objects, ...read.clusters.flatMap(({ objects }) => objects)];
    expect(kept).toMatchObject({ kind: "Secret", data: { "tls.crt": "", "tls.key": "", "ca.crt": "" } });
  });
});
