import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { camelFieldName } from "../../../lib/config/read-spec.ts";
import { secretDataSources, secretTexts } from "../../../lib/config/rules/security/inline-secrets.ts";
import { findingsOf } from "./findings-of.ts";

const pem = (kind = "") => `-----BEGIN ${kind}PRIVATE KEY-----\\nMIIE\\n-----END ${kind}PRIVATE KEY-----\\n`;
const filter = (value: string) =>
  `{configPatches: [{applyTo: CLUSTER, match: {context: ANY}, patch: {operation: MERGE, value: ${value}}}]}`;
const tls = (certificate: string) =>
  filter(
    `{transport_socket: {typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, common_tls_context: {tls_certificates: [{certificate_chain: {inline_string: c}, ${certificate}}]}}}}`,
  );
const socket = "spec.configPatches.0.patch.value.transport_socket.typed_config.common_tls_context.tls_certificates.0";

describe("an EnvoyFilter with a secret in it", () => {
  it.each([
    [tls("private_key: {inline_string: a}"), `${socket}.private_key.inline_string`],
    [tls("privateKey: {inlineBytes: YQ==}"), `${socket}.privateKey.inlineBytes`],
    [tls("pkcs12: {inline_bytes: YQ==}"), `${socket}.pkcs12.inline_bytes`],
    [tls("password: {inline_string: a}"), `${socket}.password.inline_string`],
    [
      tls("private_key_provider: {typed_config: {'@type': x, private_key: {inline_string: a}}}"),
      `${socket}.private_key_provider.typed_config.private_key.inline_string`,
    ],
    [
      filter("{session_ticket_keys: {keys: [{filename: a}, {inline_bytes: YQ==}]}}"),
      "spec.configPatches.0.patch.value.session_ticket_keys.keys.1.inline_bytes",
    ],
    [
      filter("{typed_config: {'@type': type.googleapis.com/udpa.type.v1.TypedStruct, value: {secret_access_key: a}}}"),
      "spec.configPatches.0.patch.value.typed_config.value.secret_access_key",
    ],
    [filter(`{inline_code: "${pem()}"}`), "spec.configPatches.0.patch.value.inline_code"],
    [filter(`{a: ["${pem("RSA ")}"]}`), "spec.configPatches.0.patch.value.a.0"],
    [filter(`{a: ${Buffer.from(pem("EC ")).toString("base64")}}`), "spec.configPatches.0.patch.value.a"],
    [filter(`{a: '{"keys": [{"kty": "oct", "k": "a"}]}'}`), "spec.configPatches.0.patch.value.a"],
  ])("is refused, by the name of the field: %s", (spec, path) => {
    expect(findingsOf("EnvoyFilter", spec)).toEqual([expect.stringContaining(`error ${path}: `)]);
  });

  it.each([
    tls("private_key: {filename: /etc/key.pem}"),
    tls("private_key: {environment_variable: KEY}"),
    filter("{tls_certificate_sds_secret_configs: [{name: a}]}"),
    filter("{password: {inline_string: ''}, keys: [a], secret: a}"),
    filter(`{a: '{"keys": [{"kty": "RSA", "n": "a", "e": "AQAB"}]}'}`),
    filter("{trusted_ca: {inline_string: '-----BEGIN CERTIFICATE-----'}}"),
  ])("is one only if it stands there: %s", (spec) => {
    // Some of these fields stand where Envoy has none of the name.
    const isOfField = (finding: string) => finding.startsWith("warning") || finding.includes("is not a field of");
    expect(findingsOf("EnvoyFilter", spec).filter((finding) => !isOfField(finding))).toEqual([]);
  });

  it.each([
    ["WasmPlugin", `{url: 'oci://a', pluginConfig: {key: "${pem()}"}}`, "spec.pluginConfig.key"],
    ["TrafficExtension", `{lua: {inlineCode: "${pem()}"}}`, "spec.lua.inlineCode"],
  ])("is refused as well in a %s", (kind, spec, path) => {
    expect(findingsOf(kind, spec)).toEqual([expect.stringContaining(`error ${path}: holds a private key`)]);
  });
});

/** Sensitive by Envoy's word, and left alone here, each with its reason. */
const exempt: Readonly<Record<string, string>> = {
  contextExtensions: "what a filter tells the authorization server of a route; secrets are rarely among it",
  typedConfig: "of a private key provider: its fields are looked at one by one",
};

describe("the fields that are known to hold secrets", () => {
  it("are those that Envoy's own protos call sensitive", () => {
    const protos = new URL("../../../node_modules/@grpc/grpc-js-xds/deps/envoy-api", import.meta.url).pathname;
    const found = readdirSync(protos, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".proto"))
      .flatMap((file) =>
        [...readFileSync(join(protos, file), "utf8").matchAll(/(\w+)\s*=\s*\d+\s*\[[^;]*annotations\.sensitive/g)].map(
          ([, name = ""]) => camelFieldName(name),
        ),
      );
    expect(found).toContain("privateKey");
    const known = (name: string) => secretDataSources.has(name) || secretTexts.has(name) || name in exempt;
    expect([...new Set(found)].filter((name) => !known(name))).toEqual([]);
  });
});
