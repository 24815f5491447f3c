import { error, type Finding, type Path } from "../finding.ts";
import { camelFieldName } from "../read-spec.ts";

/**
 * Fields of Envoy's API that hold a secret as a DataSource: in a file or a variable of the proxy's it is safe, inline it would be
 * published. A test compares them with what Envoy's protos annotate as `udpa.annotations.sensitive`.
 */
export const secretDataSources: ReadonlySet<string> = new Set([
  "authPassword",
  "authUsername",
  "downstreamAuthPassword",
  "downstreamAuthPasswords",
  "downstreamAuthUsername",
  "keys",
  "password",
  "pkcs12",
  "privateKey",
  "secret",
  "secretData",
  "users",
]);

/** Fields that hold a secret as a text. */
export const secretTexts: ReadonlySet<string> = new Set([
  "accessToken",
  "backendToken",
  "googleRefreshToken",
  "jsonKey",
  "refreshToken",
  "secretAccessKey",
  "sessionToken",
]);

const hint = "name it through SDS, or a file or an environment variable of the proxy";

/** Private keys in PEM, and JSON Web Keys that are not public, in any text of a value. */
export function* privateKeyRules(value: unknown, path: Path): Generator<Finding> {
  yield* textRules(value, path, () => []);
}

/** Secrets in what Envoy is given as it is written: well-known fields, and private keys anywhere. */
export function* inlineSecretRules(value: unknown, path: Path): Generator<Finding> {
  yield* textRules(value, path, fieldRules);
}

type FieldRules = (name: string, value: unknown, path: Path) => Iterable<Finding>;

function* textRules(value: unknown, path: Path, rules: FieldRules): Generator<Finding> {
  if (typeof value === "string") {
    if (holdsPrivateKey(value)) yield inlineSecret(path, "holds a private key");
    else if (holdsPrivateJwk(value)) yield inlineSecret(path, "holds a JSON Web Key that is not public");
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* textRules(element, [...path, index], rules);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    const found = [...rules(camelFieldName(name), member, at)];
    // A field that is a secret by its name is told of once.
    if (found.length > 0) yield* found;
    else yield* textRules(member, at, rules);
  }
}

function* fieldRules(name: string, value: unknown, path: Path): Generator<Finding> {
  if (secretTexts.has(name) && typeof value === "string" && value !== "") yield inlineSecret(path, "is a secret");
  if (!secretDataSources.has(name)) return;
  const isList = Array.isArray(value);
  for (const [index, source] of (isList ? value : [value]).entries()) {
    const inline = inlineField(source);
    if (inline !== undefined) yield inlineSecret([...path, ...(isList ? [index] : []), inline], "is a secret");
  }
}

/** The field of a DataSource that holds its content. */
function inlineField(source: unknown): string | undefined {
  if (typeof source !== "object" || source === null) return undefined;
  const names = new Set(["inlineString", "inlineBytes"]);
  return Object.entries(source).find(([name, text]) => names.has(camelFieldName(name)) && text !== "")?.[0];
}

const inlineSecret = (path: Path, what: string): Finding =>
  error(
    path,
    `${what}, and whatever stands here is published to every proxy that it applies to`,
    hint,
    "inline-secret",
  );

/** Whether a text holds a private key in PEM, as it is or in base64. */
function holdsPrivateKey(text: string): boolean {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return true;
  return /^LS0tLS1CRUdJTi/.test(text) && /PRIVATE KEY-----/.test(fromBase64(text));
}

/** Whether a text is a JSON Web Key Set with a key that one can sign with. */
function holdsPrivateJwk(text: string): boolean {
  if (!text.includes('"keys"')) return false;
  try {
    const json: unknown = JSON.parse(text);
    const keys = typeof json === "object" && json !== null && "keys" in json ? json.keys : undefined;
    return Array.isArray(keys) && keys.some(isPrivateJwk);
  } catch {
    return false;
  }
}

/** A symmetric key is `oct`, and `d` is the private part of every other. @see https://www.rfc-editor.org/rfc/rfc7518#section-6 */
function isPrivateJwk(key: unknown): boolean {
  return typeof key === "object" && key !== null && ("d" in key || ("kty" in key && key.kty === "oct"));
}

function fromBase64(text: string): string {
  try {
    return atob(text.replace(/\s/g, ""));
  } catch {
    return "";
  }
}
