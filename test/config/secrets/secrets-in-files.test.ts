import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { secretsInFiles } from "../../../lib/config/secrets/secrets-in-files.ts";

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
    [
      "a Secret in JSON",
      '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"a":"Yw=="}}',
      ["1 secret-in-source "],
    ],
    [
      "a Secret in a list",
      `kind: List\nitems:\n- ${service.replaceAll("\n", "\n  ")}\n- kind: Secret\n  apiVersion: v1\n  metadata: {name: a}\n  data: {a: Yw==}`,
      ["7 secret-in-source "],
    ],
    [
      "a Secret that is spelt in escapes",
      '{"apiVersion":"v1","kind":"S\\u0065cret","metadata":{"name":"a"},"data":{"a":"Yw=="}}',
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
    [
      "a private key in the mesh's settings",
      `a: b\ncertificates:\n- cert: |\n    ${key}\n`,
      ["3 secret-in-source certificates.0.cert"],
    ],
    ["a Secret without a name", "---\nkind: Secret\nstringData: {a: s3cret}", ["2 secret-in-source "]],
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

const configMap = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${data}`;
const foreign = (spec: string) => `apiVersion: example.com/v1\nkind: Keys\nmetadata: {name: a}\nspec:\n${spec}`;
const authentication = (jwks: unknown) =>
  JSON.stringify({
    apiVersion: "security.istio.io/v1",
    kind: "RequestAuthentication",
    metadata: { name: "a" },
    spec: { jwtRules: [{ issuer: "a", jwks: JSON.stringify(jwks) }] },
  });
const long = "s3cret-".repeat(7);
const ec = { kty: "EC", crv: "P-256", d: "s3cret" };
const oct = { kty: "oct", k: "s3cret" };
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a JSON Web Key that is not public", () => {
  it.each([
    ["a set in JSON in JSON", authentication({ keys: [ec] }), "1 inline-secret spec.jwtRules.0.jwks"],
    ["one key in JSON in JSON", authentication(ec), "1 inline-secret spec.jwtRules.0.jwks"],
    [
      "a set in quotes",
      configMap(`  jwk: ${JSON.stringify(JSON.stringify({ keys: [oct] }))}`),
      "5 inline-secret data.jwk",
    ],
    ["one key in a text", configMap(`  jwk: '${JSON.stringify(oct)}'`), "5 inline-secret data.jwk"],
    [
      "several keys in a list",
      configMap(`  jwk: '${JSON.stringify([{ kty: "RSA" }, ec])}'`),
      "5 inline-secret data.jwk",
    ],
    ["a key in escapes", configMap(`  jwk: '{"k\\u0074y":"oct","k":"s3cret"}'`), "5 inline-secret data.jwk"],
    [
      "a key in JSON in JSON in JSON",
      configMap(`  jwk: '${JSON.stringify(JSON.stringify(oct))}'`),
      "5 inline-secret data.jwk",
    ],
    ["a key in fields", foreign("  keys: [{kty: RSA, e: AQAB}, {kty: EC, d: s3cret}]"), "5 inline-secret spec.keys.1"],
    ["a prime of one in fields", foreign("  key:\n    kty: RSA\n    p: s3cret"), "5 inline-secret spec.key"],
    ["a key in YAML in a text", configMap(`  jwk: |\n    - kty: EC\n      d: ${long}\n`), "5 inline-secret data.jwk"],
    [
      "a key in a program",
      configMap(`  lua: |\n    local k = '{"kty":"EC","d":"${long}"}'\n`),
      "5 inline-secret data.lua",
    ],
    ["a key in a comment", `${service}# {"kty": "EC",\n#  "d": "${long}"}\n`, "4 secret-in-source "],
  ])("is found: %s", (_what, text, want) => {
    expect(found(text)).toEqual([want]);
  });

  it.each([
    authentication({ keys: [{ kty: "RSA", n: long, e: "AQAB" }] }),
    foreign("  properties: {kty: {type: string}, d: {type: string}}"),
    configMap("  lua: |\n    local d = decode_what_there_is(jwk.kty)\n"),
    `# a set whose kty is EC, and d: not\n${service}`,
  ])("is not seen in what is public: %s", (text) => {
    expect(found(text)).toEqual([]);
  });
});

describe("a private key in PEM", () => {
  it.each([
    ["folded at a blank", configMap("  key: -----BEGIN PRIVATE\n    KEY-----"), "5 inline-secret data.key"],
    ["folded in quotes", configMap('  key: "-----BEGIN EC\n    PRIVATE KEY-----"'), "5 inline-secret data.key"],
    ["broken off in quotes", configMap('  key: "-----BEGIN PRI\\\n    VATE KEY-----"'), "5 inline-secret data.key"],
    [
      "in base64 over lines",
      configMap(`  key: |\n    LS0tLS1C\n    ${base64(key).slice(8)}`),
      "5 inline-secret data.key",
    ],
    [
      "in base64 after a certificate",
      configMap(`  config: |\n    cert: ${base64("-----BEGIN CERTIFICATE-----")}\n    key: ${base64(key)}`),
      "5 inline-secret data.config",
    ],
    ["in escapes in JSON", configMap(`  a: '{"a":"-----BEGIN\\u0020PRIVATE KEY-----"}'`), "5 inline-secret data.a"],
    ["for PGP", configMap("  key: -----BEGIN PGP PRIVATE KEY BLOCK-----"), "5 inline-secret data.key"],
    ["as the name of a field", configMap(`  ? "${key}"\n  : a`), "4 inline-secret data"],
    ["as the name of an object", `apiVersion: v1\nkind: A\nmetadata:\n  name: ${key}`, "4 inline-secret metadata.name"],
    ["in a comment", `${service}# ${key}\n`, "4 secret-in-source "],
    ["in a comment of several lines", `${service}# a -----BEGIN\n#   PRIVATE\n# KEY-----\n`, "4 secret-in-source "],
    ["in base64 in a comment", `${service}#  tls.key: ${base64(key)}\n`, "4 secret-in-source "],
    ["in a file of nothing else", `${key}\nMIIE\n`, "1 secret-in-source "],
    ["in JSON of which the later field counts", `{"kind":"A","a":"${key}","a":"b"}`, "1 secret-in-source "],
  ])("is found %s", (_what, text, want) => {
    expect(found(text)).toEqual([want]);
  });
});

describe("a Secret in a comment", () => {
  it.each(["stringData: {a: s3cret}", "data:\n  a: czNjcmV0"])("is found with its values: %s", (values) => {
    const text = `kind: Secret\nmetadata: {name: a}\n${values}`;
    const commented = `${service}\n${text.replaceAll(/^/gm, "# ")}`;
    expect(found(commented)).toEqual(["5 secret-in-source "]);
    expect(found(commented.replaceAll("\n", "\r\n"))).toEqual(["5 secret-in-source "]);
  });

  it("may be talked of", () => {
    expect(found(`# kind: Secret is for others\n${service}\n# data: none\n`)).toEqual([]);
  });
});

describe("a document that cannot be read", () => {
  it.each([
    ["a key of Envoy's", "kind: EnvoyFilter\nprivate_key:\n  inline_string: s3cret\nx: [", 2],
    ["a password of Envoy's", "password: {inlineBytes: czNjcmV0}\nx: [", 1],
    ["a token of Envoy's", "a: b\nsecretAccessKey: s3cret\nx: [", 2],
    ["a JSON Web Key", "a: b\nkty: oct\nk: s3cret\nx: [", 2],
    ["a Secret", "kind: !!str Secret\ndata: {a: czNjcmV0}\nx: [", 1],
    ["values of a Secret", "a: b\nstringData: {a: s3cret}\nx: [", 2],
    ["base64 by its tag", `${configMap(`  key: !!binary ${base64("s3cret")}`)}`, 5],
    ["base64 by its long tag", configMap("  key: !<tag:yaml.org,2002:binary> czNjcmV0"), 5],
    ["escapes", 'a: "\\x73ecret"\nx: [', 1],
    ["broken words", 'a: "s\\\n ecret"\nx: [', 1],
    ["another encoding", "a: s\0e\0c\0r\0e\0t", 1],
    ["base64 of a private key", `a: b\nc: ${base64(key)}\nx: [`, 2],
  ])("is refused for what may be %s", (_what, text, line) => {
    const [finding, ...others] = secretsInFiles([{ file: "a.yaml", text: `${service}---\n${text}` }]);
    expect(finding).toMatchObject({
      code: "secret-in-source",
      severity: "error",
      origin: { file: "a.yaml", line: line + 4 },
    });
    expect(others).toEqual([]);
  });

  it("is left to whoever reads it where nothing looks like a secret", () => {
    const text = "kind: EnvoyFilter\ndefault_source_code: {inline_string: 'a'}\nx: [";
    expect(found(`${service}---\n${text}`)).toEqual([]);
  });

  it("costs its neighbours no look", () => {
    expect(found(`a: [\n---\n${configMap(`  key: ${key}`)}`)).toEqual(["7 inline-secret data.key"]);
  });
});

describe("what is said of a secret", () => {
  it("never holds it", () => {
    const texts = [
      configMap(`  jwk: '${JSON.stringify(oct)}'`),
      configMap("  ? '-----BEGIN PRIVATE KEY----- s3cret'\n  : {a: -----BEGIN PRIVATE KEY-----}"),
      "apiVersion: v1\nkind: A\nmetadata: {name: -----BEGIN PRIVATE KEY----- s3cret}",
      "private_key: {inline_string: *s3cret}",
      "a: !!binary czNjcmV0\nb: s3cret",
    ];
    for (const text of texts) {
      const said = secretsInFiles([{ file: "a.yaml", text }]);
      expect(said).not.toEqual([]);
      expect(JSON.stringify(said)).not.toMatch(/s3cret|czNj/);
    }
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
