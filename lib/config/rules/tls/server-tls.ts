import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { ServerTLSSettings } from "../../kinds/gateway.ts";
import { duplicates } from "../values.ts";
import { serverCurveRules } from "./curves.ts";

const cipherSuites: ReadonlySet<string> = new Set([
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "ECDHE-ECDSA-AES128-SHA",
  "ECDHE-RSA-AES128-SHA",
  "ECDHE-ECDSA-AES256-SHA",
  "ECDHE-RSA-AES256-SHA",
  "AES128-GCM-SHA256",
  "AES256-GCM-SHA384",
  "AES128-SHA",
  "AES256-SHA",
  "DES-CBC3-SHA",
]);

const certificateFields = [
  "serverCertificate",
  "privateKey",
  "caCertificates",
  "tlsCertificates",
  "credentialName",
  "credentialNames",
] as const;

/** Whether a cipher suite is one that Envoy can be told of; groups and operators pass. */
export function isCipherSuite(name: string): boolean {
  return name === "" || name === "ALL" || /^[^A-Za-z0-9]/.test(name) || cipherSuites.has(name);
}

/** @see docs/how-istio-does-it/validation.md#tls-settings-of-servers */
export function* serverTlsRules(tls: ServerTLSSettings | undefined, path: Path): Generator<Finding> {
  if (tls === undefined) return;
  const { mode = "PASSTHROUGH" } = tls;
  yield* cipherRules(tls, path);
  yield* serverCurveRules(tls.ecdhCurves ?? [], [...path, "ecdhCurves"]);
  yield* alpnRules(tls.alpnProtocols ?? [], [...path, "alpnProtocols"]);
  if (mode === "ISTIO_MUTUAL") {
    if (tls.ecdhCurves !== undefined) yield warning([...path, "ecdhCurves"], "has no effect with ISTIO_MUTUAL");
    for (const name of certificateFields) {
      if (tls[name] === undefined) continue;
      yield error(
        [...path, name],
        "has no meaning with ISTIO_MUTUAL",
        "the proxy's own certificate is used",
        "conflicting-fields",
      );
    }
    return;
  }
  const given = certificateFields.filter((name) => tls[name] !== undefined);
  if (mode === "PASSTHROUGH" || mode === "AUTO_PASSTHROUGH") {
    for (const name of [...given, ...(tls.caCrl === undefined ? [] : ["caCrl"])]) {
      yield warning([...path, name], `is ignored with ${mode}`);
    }
  }
  const sources = [
    tls.serverCertificate !== undefined || tls.privateKey !== undefined,
    tls.credentialName !== undefined,
    tls.credentialNames !== undefined,
    tls.tlsCertificates !== undefined,
  ].filter(Boolean).length;
  if (sources > 1) {
    const hint = "keep one of serverCertificate, credentialName, credentialNames and tlsCertificates";
    yield error(path, "has more than one source of certificates", hint, "conflicting-fields");
  }
  const crlConflict = tls.credentialName !== undefined || tls.credentialNames !== undefined || mode === "SIMPLE";
  if (tls.caCrl !== undefined && crlConflict && mode !== "PASSTHROUGH" && mode !== "AUTO_PASSTHROUGH") {
    yield error(
      [...path, "caCrl"],
      `excludes ${mode === "SIMPLE" ? "mode SIMPLE" : "credentialName"}`,
      "",
      "conflicting-fields",
    );
  }
  if (mode === "SIMPLE" && tls.subjectAltNames !== undefined) {
    yield warning([...path, "subjectAltNames"], "is ignored with SIMPLE", "MUTUAL asks clients for certificates");
  }
  if ((tls.credentialNames?.length ?? 0) > 2) yield error([...path, "credentialNames"], "has more than 2 entries");
  if ((tls.tlsCertificates?.length ?? 0) > 2) yield warning([...path, "tlsCertificates"], "has more than 2 entries");
  if (mode === "PASSTHROUGH" || mode === "AUTO_PASSTHROUGH") return;
  if (tls.credentialName !== undefined || tls.credentialNames !== undefined) return;
  yield* fileRules(tls, path, mode);
}

function* fileRules(tls: ServerTLSSettings, path: Path, mode: string): Generator<Finding> {
  const missing = (at: Path) => error(at, `is required for ${mode}`, "or give credentialName", "missing-field");
  const pairs =
    tls.tlsCertificates === undefined
      ? [{ pair: tls, at: path }]
      : tls.tlsCertificates.map((pair, index) => ({ pair, at: [...path, "tlsCertificates", index] }));
  for (const { pair, at } of pairs) {
    if (pair.serverCertificate === undefined) yield missing([...at, "serverCertificate"]);
    if (pair.privateKey === undefined) yield missing([...at, "privateKey"]);
  }
  const mutual = mode === "MUTUAL" || mode === "OPTIONAL_MUTUAL";
  if (mutual && tls.caCertificates === undefined && tls.caCertCredentialName === undefined) {
    yield missing([...path, "caCertificates"]);
  }
}

function* cipherRules(tls: ServerTLSSettings, path: Path): Generator<Finding> {
  const { minProtocolVersion: min, cipherSuites: suites = [] } = tls;
  if ((min === "TLSV1_0" || min === "TLSV1_1") && suites.length === 0) {
    const hint = "Envoy's default suites need TLS 1.2";
    yield warning([...path, "minProtocolVersion"], `${min} needs cipherSuites to have an effect`, hint);
  }
  for (const [index, name] of suites.entries()) {
    if (!isCipherSuite(name))
      yield warning([...path, "cipherSuites", index], `${JSON.stringify(name)} is ignored: unknown`);
  }
  for (const [index, name] of duplicates(suites)) {
    yield warning([...path, "cipherSuites", index], `${JSON.stringify(name)} is given twice`);
  }
}

/** A name has a byte for its length, and all names together have two. */
const maxAlpnBytes = 255;
const maxAlpnListBytes = 65_535;
const utf8 = new TextEncoder();

function* alpnRules(names: readonly string[], path: Path): Generator<Finding> {
  const bytes = names.map((name) => utf8.encode(name).length);
  for (const [index, name] of names.entries()) {
    const isName = name !== "" && !name.includes(",") && (bytes[index] ?? 0) <= maxAlpnBytes;
    if (!isName) yield error([...path, index], `${JSON.stringify(name)} is no name of a protocol`, 'such as "h2"');
  }
  if (bytes.reduce((sum, one) => sum + one + 1, 0) > maxAlpnListBytes) yield error(path, "is too long for a handshake");
}
