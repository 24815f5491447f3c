import { describe, expect, it } from "vitest";
import { readFiles, type SourceFile } from "../../../lib/config/folder/directory.ts";
import { secretsInFiles } from "../../../lib/config/secrets/secrets-in-files.ts";
import { createSecretsFilter, withoutSecrets } from "../../../lib/config/secrets/without-secrets.ts";

const key = "-----BEGIN PRIVATE KEY-----";
const service = (name: string) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: {ports: [{name: http, port: 80}]}\n`;
const secret = `apiVersion: v1
kind: Secret
metadata:
  name: cert
  namespace: shop
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data": {"a": "s3cret"}}'}
type: kubernetes.io/tls
data: {tls.crt: Yw==, tls.key: s3cret}
`;
const envoyFilter = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: key}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch:
      operation: MERGE
      value:
        private_key:
          inline_string: s3cret
`;
const request = (jwks: string) => `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: tokens, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  jwtRules:
  - issuer: a
    jwks: '${jwks}'
`;
const symmetric = '{"keys": [{"kty": "oct", "alg": "HS256", "kid": "1", "k": "s3cret-s3cret-s3cret"}]}';

const clean = (text: string, ...others: readonly SourceFile[]) =>
  withoutSecrets([{ file: "a.yaml", text }, ...others])[0]?.text ?? "";
const indented = (text: string) => text.trimEnd().replaceAll("\n", "\n  ");

/** What reading says: severity, line, code and place of each diagnostic. */
function said(text: string): readonly string[] {
  return readFiles([{ file: "a.yaml", text }], { inlineSymmetricKeys: "allow" }).diagnostics.map(
    ({ severity, origin, code, path }) =>
      `${severity} ${origin.line} ${origin.key.kind} ${code} ${path.join(".")}`.trim(),
  );
}
const objectsIn = (text: string) => {
  const { configs, objects } = readFiles([{ file: "a.yaml", text }], { inlineSymmetricKeys: "allow" });
  return [...configs, ...objects].map(({ origin }) => `${origin.line} ${origin.key.kind} ${origin.key.name}`);
};

describe("a Secret in a folder", () => {
  it("keeps its name and the names of its values, and costs its neighbours nothing, on their lines", () => {
    const text = `# head\n---\n${service("a")}---\n${secret}---\n${service("b")}`;
    const left = clean(text);
    expect(left).not.toMatch(/s3cret|Yw==/);
    expect(said(left)).toEqual(["warning 8 Secret secret-in-source"]);
    expect(objectsIn(left)).toEqual(["3 Service a", "8 Secret cert", "17 Service b"]);
    expect(readFiles([{ file: "a.yaml", text: left }]).objects[1]).toMatchObject({
      type: "kubernetes.io/tls",
      data: { "tls.crt": "", "tls.key": "" },
    });
    // Read before or after, the same is said of it.
    expect(said(text)).toEqual(said(left));
  });

  it("is taken out of a list of YAML, and of one of JSON, the rest of which stays as it is", () => {
    const list = `kind: List\nitems:\n- ${indented(service("a"))}\n- ${indented(secret)}\n\n- ${indented(service("b"))}\n`;
    const items = [service("a"), secret, service("b")].map((one) => ({
      ...readFiles([{ file: "a", text: one }]).objects[0],
      origin: undefined,
    }));
    const json = JSON.stringify(
      { kind: "List", apiVersion: "v1", items: [items[0], { ...items[1], data: { a: "s3cret" } }, items[2]] },
      undefined,
      2,
    );
    for (const text of [list, json]) {
      const left = clean(text);
      expect(left).not.toContain("s3cret");
      expect(left.split("\n").length).toBe(text.split("\n").length);
      expect(objectsIn(left)).toEqual(objectsIn(text));
      expect(said(left)).toHaveLength(1);
    }
  });

  it("passes without a word where it holds no value", () => {
    for (const text of ["data: {}", "data: {a: ''}", "", "stringData:"]) {
      const empty = `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n${text}\n`;
      expect(clean(empty)).toBe(empty);
      expect(said(empty)).toEqual([]);
    }
  });

  it("is the same text when it is cleaned once more", () => {
    const left = clean(`${service("a")}---\n${secret}---\n${envoyFilter}`);
    expect(clean(left)).toBe(left);
    expect(secretsInFiles([{ file: "a.yaml", text: left }])).toEqual([]);
  });
});

describe("another secret in a folder", () => {
  it.each([
    [
      "a field of an EnvoyFilter",
      envoyFilter,
      "error 16 EnvoyFilter inline-secret spec.configPatches.0.patch.value.private_key.inline_string",
    ],
    [
      "a key in a ConfigMap",
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |\n    ${key}\n`,
      "error 10 ConfigMap inline-secret data.a",
    ],
    [
      "a key in an annotation",
      service("x").replace("{name: x}", `{name: x, annotations: {a: "${key}"}}`),
      "error 8 Service inline-secret metadata.annotations.a",
    ],
    ["a symmetric key", request(symmetric), "error 13 RequestAuthentication inline-symmetric-key spec.jwtRules.0.jwks"],
    [
      "a private key in a key set",
      request('{"keys": [{"kty": "EC", "d": "s3cret-s3cret-s3cret"}]}'),
      "error 13 RequestAuthentication inline-secret spec.jwtRules.0.jwks",
    ],
  ])("refuses its object alone: %s", (_what, text, want) => {
    const stream = `${service("a")}---\n${text}---\n${service("b")}`;
    const left = clean(stream);
    expect(left).not.toMatch(/s3cret|PRIVATE/);
    expect(said(left)).toEqual([want]);
    expect(objectsIn(left).map((one) => one.slice(-1))).toEqual(["a", "b"]);
    expect(left.split("\n").length).toBe(stream.split("\n").length);
  });

  it.each([
    ["a document that cannot be read", `${secret}\tx: [\n`],
    ["an object without a name", "kind: Secret\nstringData: {a: s3cret}\n"],
    ["a name", `apiVersion: v1\nkind: Service\nmetadata: {name: "${key} s3cret"}\n`],
  ])("leaves its document out, as an error: %s", (_what, text) => {
    const left = clean(`${service("a")}---\n${text}---\n${service("b")}`);
    expect(left).not.toMatch(/s3cret|PRIVATE/);
    expect(said(left).map((one) => one.replace(/ \d+ /, " "))).toEqual(["error  secret-in-source"]);
    expect(objectsIn(left).map((one) => one.slice(-1))).toEqual(["a", "b"]);
  });

  it("is taken out of comments, and whatever hides one in a field that comes twice is left out", () => {
    const commented = `${service("a")}# kind: Secret\n# data: {a: s3cret}\n---\n${service("b")}`;
    expect(clean(commented)).not.toContain("s3cret");
    expect(objectsIn(clean(commented))).toEqual(objectsIn(commented));
    const twice = `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "x": "${key}", "x": 1}`;
    expect(clean(`${twice}\n---\n${service("b")}`)).not.toContain("PRIVATE");
    expect(objectsIn(clean(`${twice}\n---\n${service("b")}`))).toEqual(["3 Service b"]);
    expect(said(clean(twice))).toEqual(["error 1  secret-in-source"]);
  });

  it("leaves out a document whose other items refer to what is cut", () => {
    const list = `kind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: &m {name: a}\n  data: {a: s3cret}\n- apiVersion: v1\n  kind: Service\n  metadata: *m\n`;
    expect(clean(list)).not.toContain("s3cret");
    expect(said(clean(list))).toEqual(["error 1  secret-in-source"]);
  });
});

describe("many secrets", () => {
  it("are taken out of one list, each with its line, and an object with too many keeps its name alone", () => {
    const items = Array.from({ length: 300 }, (_, i) => `- ${indented(secret.replace("cert", `cert-${i}`))}\n`).join(
      "",
    );
    const text = `kind: List\nitems:\n${items}- ${indented(service("a"))}\n`;
    const left = clean(text);
    expect(left).not.toContain("s3cret");
    expect(objectsIn(left)).toEqual(objectsIn(text));
    expect(said(left)).toHaveLength(300);
    const keys = Array.from({ length: 1_000 }, (_, i) => `  k${i}: "${key}"\n`).join("");
    const one = clean(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${keys}`);
    expect(one).not.toContain("PRIVATE");
    expect(said(one).slice(0, 2)).toEqual([
      "error 5 ConfigMap inline-secret data.k0",
      "error 6 ConfigMap inline-secret data.k1",
    ]);
    expect(one.length).toBeLessThan(20_000);
  });
});

describe("inlineSymmetricKeys", () => {
  const settings = (text: string) => ({ file: "portolan.yaml", text });

  it("allows symmetric keys in jwks, and nothing else", () => {
    const allow = settings("inlineSymmetricKeys: allow\n");
    expect(clean(request(symmetric), allow)).toBe(request(symmetric));
    expect(said(request(symmetric))).toEqual([]);
    expect(objectsIn(request(symmetric))).toEqual(["1 RequestAuthentication tokens"]);
    const both = symmetric.replace("]}", ', {"kty": "EC", "d": "s3cret-s3cret-s3cret"}]}');
    for (const text of [request(both), envoyFilter, secret]) expect(clean(text, allow)).not.toContain("s3cret");
    expect(clean(request(symmetric), settings("inlineSymmetricKeys: refuse\n"))).not.toContain("s3cret");
    expect(withoutSecrets([{ file: "a.yaml", text: request(symmetric) }, allow], "refuse")[0]?.text).not.toContain(
      "s3cret",
    );
  });

  it("counts from the moment that it changes", () => {
    const filter = createSecretsFilter();
    const file = { file: "a.yaml", text: request(symmetric) };
    const texts = ["allow", "refuse", "allow"].map(
      (word) => filter([file, settings(`inlineSymmetricKeys: ${word}\n`)])[0]?.text,
    );
    expect(texts.map((text) => text === file.text)).toEqual([true, false, true]);
  });
});

describe("a filter of secrets", () => {
  it("gives what holds none as the very objects that it was given", () => {
    const filter = createSecretsFilter();
    const files = [
      { file: "a.yaml", text: service("a") },
      { file: "b.yaml", text: service("b") },
    ];
    expect(filter(files)).toBe(files);
    expect(filter(files)).toBe(files);
    const more = [...files, { file: "c.yaml", text: secret }];
    const [a, b, c] = filter(more);
    expect([a, b]).toEqual(files);
    expect(a).toBe(files[0]);
    expect(filter(more)[2]).toBe(c);
  });
});
